"""The two ways in which a group of trees is published in halves."""

from __future__ import annotations

from enum import Enum


class Style(Enum):
    """How a group is taken apart."""

    TREES = "t-t"  # trees of quasi-identifiers beside trees of sensitive values
    VERTICES = "v-v"  # each vertex points to a bag of sensitive values
