"""Readers and writers of set-valued data: baskets in lines, one row for each item, or sets in a column."""
