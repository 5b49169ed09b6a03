"""Differential privacy of two parties: one noisy table of rows that neither shows the other.

The loop, the budget and the ledger are those of one machine (`privet.dp.diffgen`); where one machine would
look at a count, the two compute together. `terms` is what a contract says, `exponentials` the whole numbers
that stand for weights, `choosing` how the next split is drawn, `columns` and `people` where splits come from,
`counting` the noisy counts, `joint` the whole of it.
"""
