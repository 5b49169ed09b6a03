"""Tables on the road: one row for each person, published as one table or as two."""
