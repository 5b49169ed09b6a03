"""What goes with the data: evidence as versioned JSON, and a report for people.

Both are made of numbers, column names, published labels and the policy's own words. Neither ever
holds a value that is not published.
"""
