"""Policies: what the steward decides before seeing the data; values, notation, consistency and drafts."""
