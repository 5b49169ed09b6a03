"""A pandas frame in, a pandas frame out; needs privet[pandas]."""

import pandas as pd

import privet as pv

frame = pd.DataFrame(
    {
        "name": ["Ada", "Alan", "Alonzo", "Grace", "Kurt", "Emmy"],
        "sex": ["F", "M", "M", "F", "M", "F"],
        "age": [36, 41, 42, 37, 45, 39],
        "visits": [3, 1, 4, 1, 5, 9],
    },
    index=[10, 20, 30, 40, 50, 60],  # row labels mean nothing here, and are not published
)
policy = pv.Policy.loads("""
policy = 1

[attributes]
name = { role = "identifier" }
sex = { role = "quasi" }
age = { role = "quasi", hierarchy = { type = "intervals", low = 0, high = 120 } }
visits = { role = "other" }

[[models]]
type = "k-anonymity"
k = 3
""")

published = pv.publish(frame, policy).to_pandas()
print(published.to_string())
print(published["visits"].dtype)  # columns that only pass through keep their type
