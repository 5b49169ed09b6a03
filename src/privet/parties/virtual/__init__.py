"""The virtual database: tables of several organisations, anonymised together, asked together, never merged.

Jurczyk and Xiong 2008. `growing` is distributed Mondrian: all sites split the same regions at the same places
and every site keeps its own rows under the boxes that were found. `answering` collects the rows that match a
question by a secure set union, so that nobody learns whose they were; `exposure` says how much could be
concluded on the way, and how many decoys it takes.
"""
