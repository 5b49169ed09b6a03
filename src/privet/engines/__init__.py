"""Where tables live: `embedded` (polars, in this process) and `plain` (pure Python, the reference).

An engine reads, tallies, applies and writes. It knows nothing of searches and promises, and nothing
outside this room knows polars but the edges that accept people's frames.
"""
