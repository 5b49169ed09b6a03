"""Attackers let loose on releases: one module for each, with what it assumes and what the promise allows it.

None of them decides about a release by itself; `suite` runs what applies and says of each how often it
succeeded, how often guessing would have, and whether that is more than was promised.
"""
