"""Several releases of the same people: what is public about them, read from files."""
