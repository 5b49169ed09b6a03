"""A column of pandas with values of several types is refused by its name, never with a value."""

from __future__ import annotations

from typing import Any

import pytest

import privet as pv
from privet.errors import InputError

POLICY = """
policy = 1
[attributes]
age = "quasi"
sex = "quasi"
[[models]]
type = "k-anonymity"
k = 2
"""


@pytest.mark.parametrize("odd", [[1, "canary", 2.5, None], [1, {"canary": 1}, 2, 3], [b"canary", 1, "x", 2]])
@pytest.mark.parametrize("act", [pv.check, pv.publish])
def test_a_mixed_column_is_named(act: Any, odd: list[Any]) -> None:
    """It ended as an error of pyarrow that quoted a value."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": odd, "sex": ["f", "m", "f", "m"]})
    with pytest.raises(InputError, match="column 'age' holds values of several types") as error:
        act(frame, pv.Policy.loads(POLICY))
    assert "canary" not in str(error.value)
