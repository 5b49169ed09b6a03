"""Between organisations: one release of several tables that nobody ever brings together.

Every organisation runs the same search on its own rows; wherever one machine would look at a count, the
parties answer together, through the same door (`privet.counts.door`). What each of them learns on the way is
written in the contract, counted while it runs, and searched for in the tests.

`primitives/` holds the small protocols, one to a module, each with what it protects against whom; `transport`
carries messages; `contract` is what all parties sign; `people` is a table split by persons, `columns` one
split by columns; `rehearsal` runs all parties on one machine.
"""
