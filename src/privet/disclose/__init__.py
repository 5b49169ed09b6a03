"""Answers and releases that stay safe when the adversary knows how they were decided.

A release is what was said plus the knowledge of how it was decided to say it. What is protected is the set
of states that the adversary cannot exclude: `audit` for queries answered one by one, `safe` for choosing
among releases by a public rule, `sources` for several views of the same people.
"""
