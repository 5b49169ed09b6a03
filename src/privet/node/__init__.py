"""The service that an organisation runs beside its own data, so that several can publish together.

A node holds its organisation's certificate, signing key and invitations; it listens for its peers over HTTPS
with mutual TLS 1.3, runs what its steward has signed and started, and keeps the releases. It runs the same
protocol code as a rehearsal does: `wires` carries the bytes.
"""
