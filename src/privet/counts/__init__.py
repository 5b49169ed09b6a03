"""Counts through a door: what a search may ask of data, wherever the data is.

`door` says what can be asked; `memory` answers from a tally in this process. Others that answer are a cluster
and a protocol between organisations. No search reaches behind the door, so each serves every search.
"""
