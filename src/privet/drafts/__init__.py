"""Drafts of policies: what columns and files may be, guessed for a steward who decides; presets accepted."""
