"""Noisy tables on the road: paid for in a ledger instead of being checked."""
