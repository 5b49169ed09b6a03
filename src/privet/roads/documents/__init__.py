"""Documents on the road: people whose record is a tree."""
