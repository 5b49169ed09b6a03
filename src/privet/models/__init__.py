"""Promises about a table that can be checked on it.

A model is a frozen dataclass with a name, a declared monotonicity and `check(tally)`. It sees counts
only, knows no engine, no file and no search: what a search believed is checked here again, with code
that the search does not use.
"""
