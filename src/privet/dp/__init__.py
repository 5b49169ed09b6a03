"""Differential privacy: promises that are spent, not checked.

Whether a release is differentially private cannot be seen on the release; it is a property of how it was
made. So the evidence is an entry in a ledger (`spend`, `ledger`), written before any noise is drawn, and
the noise comes from exact samplers over integers (`noise`, `exact`, `vetted`).
"""
