"""One peer mines frequent itemsets from a file of baskets: its name, the file, a share; answers in JSON."""

import json
import sys
import time
from pathlib import Path

peer, path, share = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
records = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
begun = time.process_time()
if peer == "mlxtend":
    import pandas as pd
    from mlxtend.frequent_patterns import fpgrowth
    from mlxtend.preprocessing import TransactionEncoder

    encoder = TransactionEncoder()
    rows = encoder.fit(records).transform(records, sparse=True)
    frame = pd.DataFrame.sparse.from_spmatrix(rows, columns=encoder.columns_)
    many = len(fpgrowth(frame, min_support=share))
elif peer == "efficient-apriori":
    from efficient_apriori import itemsets_from_transactions

    found, _ = itemsets_from_transactions(records, min_support=share)
    many = sum(map(len, found.values()))
else:
    import fim

    many = len(fim.eclat(records, target="s", supp=100 * share))
print(json.dumps({"itemsets": many, "seconds": time.process_time() - begun}))
