"""Paths through places and times: who was where, when, published without saying who.

Mohammed, "Models and algorithms for private data sharing", 2012, chapter 4. The road is that of tables:
`reading` makes a tally of paths, `suppress` searches on it (with `violations` and `frequent`), the
suppression is applied, and `audit` checks what is about to leave with code of its own.
"""
