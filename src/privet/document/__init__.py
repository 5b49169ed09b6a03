"""Documents: people whose record is a tree, published so that the whole tree gives nobody away."""
