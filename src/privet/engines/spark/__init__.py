"""Tables on a cluster, through Spark's DataFrame API: Spark, Spark Connect, Databricks, Sail.

Counted there and recoded there; what comes here are the distinct values of each column, and the counts.
"""
