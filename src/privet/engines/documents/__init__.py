"""Documents in files: JSON, JSON lines, XML and joined tables, read as streams and written as they came."""
