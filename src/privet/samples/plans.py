"""Which column of a sample plays which role, and the ready policy that says so.

Plain data and text: nothing here needs numpy or polars.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from privet.samples import taxonomies
from privet.samples.taxonomies import Tree

Hierarchy: TypeAlias = Mapping[str, object]
WIDTH = 110  # a tree that needs a longer line is written one branch a line


@dataclass(frozen=True, slots=True)
class Planned:
    """One column: its role, and its hierarchy if it is a quasi-identifier."""

    role: str
    hierarchy: Hierarchy | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A sample's columns in order, and a promise that suits them."""

    purpose: str
    columns: Mapping[str, Planned]
    sensitive: Mapping[str, tuple[str, ...]]  # the values of the sensitive column nobody may learn
    l: int
    k: int
    c: str

    def named(self, role: str) -> tuple[str, ...]:
        return tuple(name for name, column in self.columns.items() if column.role == role)

    def policy(
        self,
        *,
        l: int | None = None,
        k: int | None = None,
        c: str | None = None,
        score: str = "information-gain",
    ) -> str:
        """The policy as TOML. What is not given is taken from the plan: a sample is nobody's data."""
        attributes = [line for name, column in self.columns.items() for line in _attribute(name, column)]
        sensitive = {name: list(values) for name, values in self.sensitive.items()}
        lines = [
            "policy = 1",
            'kind = "table"',
            f"purpose = {_text(self.purpose)}",
            'nulls = "value"',
            *(['rows = "persons"'] if self.named("identifier") else []),  # names repeat, people do not
            "",
            "[attributes]",
            *attributes,
            "",
            "[[models]]",
            'type = "lkc-privacy"',
            f"l = {self.l if l is None else l}",
            f"k = {self.k if k is None else k}",
            f"c = {_text(self.c if c is None else c)}",
            f"sensitive = {_inline(sensitive)}",
            "",
            "[algorithm]",
            'type = "top-down"',
            f"score = {_text(score)}",
        ]
        return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _inline(value: object) -> str:
    match value:
        case str():
            return _text(value)
        case Mapping():
            return "{ " + ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(_inline, value)) + "]"
        case _:
            return str(value)


def _branches(value: object, at: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _branches(below, f"{at}.{_key(key)}")
    else:
        yield f"{at} = {_inline(value)}"


def _attribute(name: str, column: Planned) -> list[str]:
    """On one line, or with dotted keys, which say the same and can be read."""
    value: dict[str, object] = {"role": column.role}
    if column.hierarchy is not None:
        value["hierarchy"] = column.hierarchy
    line = f"{_key(name)} = {_inline(value)}"
    return [line] if len(line) <= WIDTH else list(_branches(value, _key(name)))


def _tree(tree: Tree) -> Planned:
    return Planned("quasi", {"type": "tree", "tree": tree})


def _prefix(*keep: int) -> Planned:
    return Planned("quasi", {"type": "prefix", "keep": list(keep)})


_IDENTIFIER, _OTHER = Planned("identifier"), Planned("other")
_SENSITIVE, _TARGET = Planned("sensitive"), Planned("target")
_NUMBER = Planned("quasi", {"type": "intervals"})  # no widths: cut wherever the search finds it best

# In the order of the published files.
CENSUS = Plan(
    purpose="census extract for research on income",
    columns={
        "age": _NUMBER,
        "workclass": _tree(taxonomies.ADULT["workclass"]),
        "fnlwgt": _NUMBER,
        "education": _tree(taxonomies.ADULT["education"]),
        "education-num": _NUMBER,
        "marital-status": _SENSITIVE,
        "occupation": _tree(taxonomies.ADULT["occupation"]),
        "relationship": _tree(taxonomies.ADULT["relationship"]),
        "race": _tree(taxonomies.ADULT["race"]),
        "sex": _tree(taxonomies.ADULT["sex"]),
        "capital-gain": _NUMBER,
        "capital-loss": _NUMBER,
        "hours-per-week": _NUMBER,
        "native-country": _tree(taxonomies.ADULT["native-country"]),
        "income": _TARGET,
    },
    sensitive={"marital-status": ("Divorced", "Separated")},
    l=4,
    k=20,
    c="1/5",
)

_PERSON: Mapping[str, Planned] = {"patient_id": _IDENTIFIER, "name": _IDENTIFIER}
_EVERYDAY: Mapping[str, Planned] = {  # what a neighbour could know
    "job": _tree(taxonomies.PATIENTS["job"]),
    "sex": _tree(taxonomies.PATIENTS["sex"]),
    "age": _NUMBER,
    "zip": _prefix(3, 1),
    "admitted": Planned("quasi", {"type": "dates", "levels": ["month", "quarter", "year"]}),
}
_MEASURED = (
    *("height_cm", "weight_kg", "household", "systolic", "diastolic", "pulse", "temperature", "haemoglobin"),
    *(
        "haematocrit",
        "platelets",
        "white_cells",
        "inr",
        "creatinine",
        "anti_a_titre",
        "anti_b_titre",
        "stay_days",
    ),
)
_TREATMENT = (
    *("surgery", "transfused", "red_cell_units", "plasma_units", "platelet_units", "tranexamic_acid"),
    *("cell_salvage", "warmed", "irradiated", "unit_age_days", "bag_volume_ml", "crossmatch_minutes"),
    *("infusion_minutes", "reaction", "reaction_grade", "prescriber", "issue_site", "consent", "audit_week"),
)

# The shape of the private "Blood" table of Mohammed (2012): 62 attributes, 41 of them quasi-identifiers.
TRANSFUSIONS = Plan(
    purpose="transfusion records for research on blood groups",
    columns={
        **_PERSON,
        **_EVERYDAY,
        **{name: _tree(tree) for name, tree in taxonomies.PATIENTS.items() if name not in _EVERYDAY},
        **dict.fromkeys(_MEASURED, _NUMBER),
        "diagnosis": _SENSITIVE,
        "blood_group": _TARGET,
        **dict.fromkeys(_TREATMENT, _OTHER),
    },
    sensitive={"diagnosis": ("HIV", "Mental", "Pregnancy")},
    l=2,
    k=20,
    c="1/5",
)

# A few columns of it, in the manner of table 3.1: whom to expect for a transfusion.
PATIENTS = Plan(
    purpose="yearly extract for the blood transfusion service",
    columns={**_PERSON, **_EVERYDAY, "surgery": _SENSITIVE, "transfused": _TARGET},
    sensitive={"surgery": ("Transgender",)},
    l=3,
    k=10,
    c="1/5",
)
