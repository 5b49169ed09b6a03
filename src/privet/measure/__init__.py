"""What is lost and what is risked: measures on tallies, and attackers that try.

Measures see counts and labels, never rows; none of them decides about a release.
"""
