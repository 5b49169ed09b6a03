"""Searches over tables: each sees a tally and returns a recoding.

Nothing here reads a file, touches a row or knows an engine. What a search believes about a promise is
its own business; the road checks again with the models' code before anything leaves.
"""
