"""Choosing what to release when everybody knows how it was chosen (Zhang 2010, chapter 4).

"Walk through the generalisations and release the first that is diverse" tells an adversary that every earlier
one was not, on the true table; what is left after that may give people away. Here the choice itself is part
of what must be safe. `settings` and `predicates` hold finite problems as values, `traversal` the algorithms
that solve them, `chain` and `lattice` the same for tables, and `adversary` what somebody who knows the
algorithm concludes.
"""
