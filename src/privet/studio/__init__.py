"""The steward's pages in a browser: the whole job on this machine, for people who do not write TOML.

Everything that a page does is an edit of policy.toml or a command that could have been typed; both are shown
beside it. Numbers come from the same functions and the same command line, never from a second copy.
"""
