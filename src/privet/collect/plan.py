"""The plan of a collection, collect.toml: what is asked, of which values, and how answers are perturbed.

Respondents and the collector read the same plan, in TOML or as the JSON form of it. It is valid or it does
not exist; a wrong one is answered with every complaint at once. Nothing in it may come from the data: the
bounds of a number and the values of a category are what everybody knows before anybody has answered.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from privet import jsonvalue
from privet.collect.column import Column
from privet.collect.columns import FARTHEST, column_of
from privet.collect.numerals import BLANKS, exact, written
from privet.errors import PolicyError, unknown_key

VERSION = 1
TOP = ("collect", "purpose", "budget", "columns", "digest")


@dataclass(frozen=True)
class Plan:
    """What is collected. `budget` is the most that one respondent's answers may cost over all rounds."""

    columns: Mapping[str, Column]
    purpose: str = ""
    budget: Fraction | None = None

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read collect.toml, or its form as .json; every complaint at once."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
            document = jsonvalue.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except FileNotFoundError:
            raise PolicyError(f"{path}: no such file; `privet collect init` drafts one") from None
        except (UnicodeDecodeError, IsADirectoryError):
            raise PolicyError(f"{path}: this is not a text file") from None
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(f"{path}: {error}") from None
        except json.JSONDecodeError as error:
            raise PolicyError(
                f"{path}: line {error.lineno}, column {error.colno}: this is not JSON"
            ) from None
        except RecursionError:
            raise PolicyError(f"{path}: nested too deep") from None
        except ValueError:
            raise PolicyError(f"{path}: a key stands twice, or a number is not JSON's") from None
        try:
            return cls.from_document(document)
        except PolicyError as error:
            raise error.at(str(path)) from None

    @classmethod
    def from_document(cls, document: object) -> Plan:
        """From what TOML or JSON made of it.

        >>> age = {"type": "number", "low": 0, "high": 100, "mechanism": "laplace", "epsilon": 1}
        >>> Plan.from_document({"collect": 1, "columns": {"age": age}}).columns["age"].channel.inputs
        101
        """
        if not isinstance(document, Mapping):
            raise PolicyError("a plan is a table with `collect = 1` and columns")
        wrong = [unknown_key(TOP, str(key)) for key in document if key not in TOP]
        version = document.get("collect")
        if isinstance(version, bool) or version != VERSION:
            wrong.append(f"the first line must be `collect = {VERSION}`")
        purpose = document.get("purpose", "")
        if not isinstance(purpose, str) or not (purpose.isprintable() and len(purpose) <= 500):
            wrong.append("purpose: is one line of text")
        budget = None
        if "budget" in document:
            try:
                budget = exact(document["budget"])
                if not 0 < budget <= FARTHEST:
                    wrong.append(f"budget: is above 0 and at most {FARTHEST:,}")
            except PolicyError as error:
                wrong += error.at("budget").complaints
        columns = _columns(document.get("columns"), wrong)
        if budget is not None and not wrong:
            _refuse_budget(budget, columns, wrong)
        if wrong:
            raise PolicyError(*wrong)
        plan = cls(columns, purpose, budget)
        if "digest" in document and document["digest"] != plan.digest:
            raise PolicyError(
                "digest: this form was changed after it was made; ask the collector for it again"
            )
        return plan

    def document(self) -> dict[str, Any]:
        """The plan as JSON can hold it; numbers are text where they are not whole."""
        said: dict[str, Any] = {"collect": VERSION}
        if self.purpose:
            said["purpose"] = self.purpose
        if self.budget is not None:
            said["budget"] = written(self.budget)
        return said | {"columns": {name: column.document() for name, column in self.columns.items()}}

    @property
    def digest(self) -> str:
        """Which plan an answer belongs to; the purpose is only words and is left out."""
        said = self.document() | {"purpose": ""}
        return sha256(canonical(said).encode()).hexdigest()[:16]

    def form(self) -> dict[str, Any]:
        """What clients are given: the plan, and its digest."""
        return {**self.document(), "digest": self.digest}

    def column(self, name: str) -> Column:
        if name not in self.columns:
            raise PolicyError(f"the plan has no column {name}; it has {', '.join(self.columns)}")
        return self.columns[name]


def canonical(document: Any) -> str:
    """One text for one document, the same in client.js."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _columns(given: object, wrong: list[str]) -> dict[str, Column]:
    if not isinstance(given, Mapping) or not given:
        wrong.append('columns: name what is asked, as in [columns.age] with type = "number"')
        return {}
    made = {}
    for name, table in given.items():
        if not isinstance(name, str) or not name.strip(BLANKS) or not name.isprintable() or len(name) > 200:
            wrong.append("columns: a name is up to 200 printable characters")
            continue
        try:
            made[name] = column_of(name, table)
        except PolicyError as error:
            wrong += error.at(f"columns.{name}").complaints
    return made


def _refuse_budget(budget: Fraction, columns: Mapping[str, Column], wrong: list[str]) -> None:
    """A budget that the first round would break is a mistake."""
    secret = [column for column in columns.values() if column.mechanism != "as-is"]
    wrong += [
        f"budget: {column.name} has no finite epsilon with {column.mechanism} noise, so no budget can hold it"
        for column in secret
        if column.epsilon is None
    ]
    first = sum((column.epsilon for column in secret if column.epsilon is not None), Fraction(0))
    if first > budget:
        wrong.append(
            f"budget: one round costs {written(first)} already, which is more than {written(budget)}"
        )
