"""How the values of an attribute become less telling: trees, intervals, prefixes, calendars.

A hierarchy is a rule, made by the steward before the data is seen: frozen, holding no data. Given the
distinct values of a column it returns their `Domain`, in which every generalised value is a range of
codes. This room must not know tables, engines, privacy models or searches: it sees texts and nulls, and
it never says in an error which value it could not place, only how many.
"""

from privet.hierarchy.auto import Auto, draft
from privet.hierarchy.dates import Dates
from privet.hierarchy.flat import Flat
from privet.hierarchy.intervals import Intervals
from privet.hierarchy.parse import parse
from privet.hierarchy.prefix import Prefix
from privet.hierarchy.sets import Sets
from privet.hierarchy.tree import Tree

__all__ = ["Auto", "Dates", "Flat", "Intervals", "Prefix", "Sets", "Tree", "draft", "parse"]
