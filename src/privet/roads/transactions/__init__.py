"""Set-valued data on the road: baskets, lists of diagnoses, visits to pages."""
