"""Small protocols between parties, one to a module; each says whom it protects, against whom, and what leaks.

All are secure against parties that follow the protocol and look at whatever they receive (semi-honest). How
many of them may put their heads together is said in each module's `Trust:` line.
"""
