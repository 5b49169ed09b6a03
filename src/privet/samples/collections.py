"""Collections of trees: people who do not exist, each a record with records inside, with a policy that fits.

Importing this loads neither numpy nor polars; generating does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

__all__ = ["COLLECTIONS", "Collection"]


@dataclass(frozen=True, slots=True)
class Collection:
    """Records that can be generated in any number, always the same for the same seed."""

    name: str
    description: str
    purpose: str = field(repr=False)
    module: str = field(repr=False)  # named and not imported
    function: str = field(repr=False)
    variant: Mapping[str, bool] = field(default_factory=dict, repr=False)  # which schema of the module
    hierarchies: Mapping[str, Any] = field(default_factory=dict, repr=False)  # those that are not trees

    def generate(self, rows: int, seed: int) -> Iterator[dict[str, Any]]:
        """Raises InputError for a negative size or seed."""
        made: Iterator[dict[str, Any]] = getattr(import_module(self.module), self.function)(rows, seed)
        return made

    def documents(self) -> dict[str, Any]:
        """The table `documents` of a policy: what each field is."""
        module = import_module(self.module)
        said = dict(module.schema(**self.variant))
        trees = {
            name: {"type": "tree", "tree": tree}
            for name, tree in module.hierarchies().items()
            if name not in self.hierarchies
            and any(name in type_["quasi"] for type_ in said["types"].values())
        }
        arranged = {name: {"hierarchy": one} for name, one in {**trees, **self.hierarchies}.items()}
        return {**said, "attributes": {**said["attributes"], **arranged}}

    def policy(self, *, l: int = 3, algorithm: str = "ctoff") -> str:
        """A ready policy as TOML."""
        import tomli_w  # noqa: PLC0415 - only who writes a policy needs it

        model = "anatomy-l-diversity" if algorithm == "tree-anatomy" else "document-l-diversity"
        return tomli_w.dumps(
            {
                "policy": 1,
                "kind": "documents",
                "purpose": self.purpose,
                "documents": self.documents(),
                "models": [{"type": model, "l": l}],
                "algorithm": {"type": algorithm},
            }
        )


STUDENTS = "privet.samples.transcripts"
PREFIX = {"course": {"type": "prefix", "keep": [3, 2]}}
COLLECTIONS: Mapping[str, Collection] = {
    one.name: one
    for one in (
        Collection(
            "transcripts",
            "students with the courses they took and the books they bought, about 41 vertices each",
            "what students take and how they do",
            STUDENTS,
            "transcripts",
        ),
        Collection(
            "transcripts-years",
            "the same students with the college year between them and their courses",
            "what students take and how they do, year by year",
            STUDENTS,
            "transcripts_years",
            {"years": True},
        ),
        Collection(
            "transcripts-sparse",
            "students of a whole university: 5,000 courses, many taken by very few",
            "what students take and how they do",
            STUDENTS,
            "transcripts_sparse",
            {"sparse": True},
            PREFIX,
        ),
        Collection(
            "encounters",
            "patients with their encounters, conditions and observations, in the manner of FHIR",
            "a year of encounters for research",
            "privet.samples.encounters",
            "encounters",
            {},
            {
                "birthYear": {"type": "intervals", "width": [5, 20]},
                "encounter.year": {"type": "intervals", "width": [2]},
            },
        ),
    )
}
