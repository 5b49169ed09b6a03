"""A third judge of releases, for forgeries that `privet verify` accepted: may they be accepted?

It shares no code with privet nor with the checker of one file. It reads with csv, json and ElementTree, asks
every definition with lists and loops, and looks at what was changed. `objections` says why a forged folder
may not pass; an empty list means that it is as good as an honest release.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from tests.equality.test_key import naive as same
from tests.models.naive import breaks

import privet as pv

Row = dict[str, Any]


def objections(forged: Path, honest: Path, stated: Iterable[str]) -> list[str]:
    """Why it should not have been accepted; `stated`: what the verdict calls the steward's word."""
    said, true = (json.loads((folder / "evidence.json").read_text("utf-8")) for folder in (forged, honest))
    changed = [way for way in differences(said, true) if way[0] != "files"]
    data = sorted(p.name for p in forged.iterdir() if p.name.startswith(("data", "counts", "buckets")))
    same_data = all(_bytes(forged / name) == _bytes(honest / name) for name in data)
    same_policy = (forged / "policy.toml").read_bytes() == (honest / "policy.toml").read_bytes()
    found = []
    if same_data and same_policy:  # then whatever can be counted still has its true number
        marked = set(stated)
        found += [
            f"evidence: {'.'.join(map(str, way))} is another, and nothing marks it"
            for way in changed
            if not any(".".join(map(str, way[:n])) in marked for n in range(1, len(way) + 1))
        ]
    text = (forged / "policy.toml").read_text("utf-8")
    if not same_policy and ("#" in text or text.count("\n\n\n") or tomllib.loads(text) == _policy(honest)):
        found.append("policy: more than it says")
    if not same_data or not same_policy:
        found += list(_broken(forged, said, tomllib.loads(text)))
    return found


def _bytes(path: Path) -> bytes:
    """What a file holds, unpacked; of a folder of parts all rows, with the head of the first."""
    if not path.is_dir():
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    texts = [one.read_bytes() for one in sorted(path.iterdir())]
    assert len({text.split(b"\n")[0] for text in texts}) == 1, "parts have different heads"
    return texts[0] + b"".join(text.split(b"\n", 1)[1] for text in texts[1:])


def _policy(folder: Path) -> Any:
    return tomllib.loads((folder / "policy.toml").read_text("utf-8"))


def differences(one: Any, other: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places at which two documents differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            if key not in one or key not in other:
                if one.get(key, other.get(key)) not in ({}, []):  # an empty list says as much as none
                    yield (*way, key)
            else:
                yield from differences(one[key], other[key], (*way, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, (*way, at))
    elif one != other or type(one) is not type(other):
        yield way


def _broken(folder: Path, said: Any, policy: Any) -> Iterator[str]:
    kind, name = policy.get("kind", "table"), said["data"]["file"]
    search = policy["algorithm"]["type"]
    if kind == "documents":
        yield from (
            _halves(folder / name, policy)
            if search == "tree-anatomy"
            else _trees(folder / name, policy, said)
        )
    elif kind == "transactions":
        yield from _sets(folder / name, policy, said)
    elif kind == "trajectories":
        yield from _paths(folder / name, policy, said)
    elif search in {"diffgen", "noisy-contingency"}:
        yield from _noisy(folder, said)
    elif "buckets" in said["data"]:
        yield from _buckets(folder, policy, said)
    else:
        yield from _table(folder, policy, said)


def _rows(path: Path, *, ordered: bool = True) -> tuple[list[Row], list[str]]:
    """The rows of a table, and what is odd about how they are written."""
    text = _bytes(path).decode("utf-8")
    if ".jsonl" in path.name:
        return _lines(text)
    cells = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(cells)
    odd = []
    if made.getvalue() != text and made.getvalue() != text.replace('""', ""):
        odd.append("rows are written in another way")
    if any(len(row) != len(cells[0]) for row in cells):
        odd.append("rows of different lengths")
    missing = '""' not in text  # an empty text is quoted, a missing one is not; no release here has both
    body = [[(cell == "" and missing, cell) for cell in row] for row in cells[1:]]
    if ordered and body != sorted(body):
        odd.append("rows stand in another order")
    return [{n: v or None for n, v in zip(cells[0], row, strict=False)} for row in cells[1:]], odd


def _lines(text: str) -> tuple[list[Row], list[str]]:
    """The same of objects, one on each line."""
    found = [json.loads(line, parse_float=str) for line in text.splitlines()]
    odd = []
    if any([*one] != [*found[0]] for one in found) or re.search(r"[,:{]\s|\n\n|\s[,:}]", text):
        odd.append("rows are written in another way")
    if any(len({type(one.get(name)) for one in found} - {type(None)}) > 1 for name in found[0]):
        odd.append("a value is of another type than the others")
    rows = [{n: v if v is None else str(v) for n, v in one.items()} for one in found]
    keys = [[(v is None, v or "") for v in row.values()] for row in rows]
    if keys != sorted(keys):
        odd.append("rows stand in another order")
    return rows, odd


def _grouped(rows: Sequence[Row], names: Sequence[str]) -> list[list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return list(found.values())


def _linked(model: Row, k: int, groups: Iterable[list[Row]]) -> bool:
    """Do groups have k records at least, and protected values no more than their share of them?"""
    bounds = list(_bounds(model))
    for group in groups:
        if len(group) < k:
            return False
        for name, value, most in bounds:
            values = [same(row[name]) for row in group]
            worst = max(Counter(values).values()) if value is None else values.count(same(value))
            if worst > most * len(group):
                return False
    return True


def _bounds(model: Row) -> Iterator[tuple[str, str | None, Fraction]]:
    said = model.get("sensitive", {})
    usual = Fraction(str(model.get("c", model.get("alpha", 1))))
    for name in said:
        values = said[name] if isinstance(said, dict) else "every"
        if values == "every":
            yield name, None, usual
        elif isinstance(values, dict):
            yield from ((name, value, Fraction(str(most))) for value, most in values.items())
        else:
            for value in values:
                one = value if isinstance(value, dict) else {"value": value}
                yield name, str(one["value"]), Fraction(str(one.get("at_most", usual)))


def _table(folder: Path, policy: Any, said: Any) -> Iterator[str]:
    rows, odd = _rows(folder / said["data"]["file"])
    yield from odd
    if len(rows) != said["records"]:
        yield "another number of records"
    roles = {n: a if isinstance(a, str) else a["role"] for n, a in policy["attributes"].items()}
    quasi = [name for name, role in roles.items() if role == "quasi"]
    if not quasi or any(set(row) != {n for n, r in roles.items() if r != "identifier"} for row in rows):
        yield "other columns"
        return
    for model, made in zip(policy["models"], pv.Policy.load(folder / "policy.toml").models, strict=True):
        if not _table_keeps(model, made, rows, quasi, persons="person" in policy):
            yield f"{model['type']} is broken"


def _table_keeps(model: Row, made: Any, rows: list[Row], quasi: list[str], *, persons: bool) -> bool:
    classes = _grouped(rows, quasi)
    sizes = [len(one) for one in classes]
    known = min(model.get("l", 0), len(quasi))
    match model["type"]:
        case "k-anonymity" | "alpha-k-anonymity" | "confidence-bounding":
            told = {"k": model.get("k", 1)} if persons else model
            return _linked(told, model.get("k", 1), classes)
        case "maximum-risk":
            return all(Fraction(1, n) <= Fraction(model["at_most"]) for n in sizes)
        case "lkc-privacy":
            told = {"k": model["k"]} if persons else model
            return all(_linked(told, model["k"], _grouped(rows, some)) for some in combinations(quasi, known))
        case "average-risk":
            return Fraction(len(sizes), sum(sizes)) <= Fraction(model["at_most"])
        case "records-at-risk" | "sample-uniqueness":
            above = Fraction(model.get("above", "1/2"))
            risky = sum(n for n in sizes if Fraction(1, n) > above)
            return Fraction(risky, sum(sizes)) <= Fraction(model["at_most"])
        case "distinct-l-diversity" | "p-sensitive-k-anonymity":
            pass
        case _ if persons:
            return True  # shares of persons: records do not show them
    whole: Any = [same(row[model["sensitive"][0]]) for row in rows]
    values: list[Any] = [[same(row[model["sensitive"][0]]) for row in one] for one in classes]
    return not any(breaks(made, one, whole) for one in values)


def _buckets(folder: Path, policy: Any, said: Any) -> Iterator[str]:
    rows, odd = _rows(folder / said["data"]["file"])
    held, odder = _rows(folder / said["data"]["buckets"])
    yield from (*odd, *odder)
    (sensitive,) = (
        n for n, a in policy["attributes"].items() if (a if isinstance(a, str) else a["role"]) == "sensitive"
    )
    if any(not re.fullmatch("[1-9][0-9]*", row["records"] or "") for row in held):
        yield "a count that is none"
        return
    values = [(row["bucket"], row[sensitive]) for row in held for _ in range(int(row["records"]))]
    if Counter(row["bucket"] for row in rows) != Counter(bucket for bucket, _ in values):
        yield "two tables of different records"
    if len(rows) != said["records"]:
        yield "another number of records"
    for model in policy["models"]:
        heaps = _grouped([{"b": b, "s": s} for b, s in values], ["b"])
        if any(len({same(row["s"]) for row in heap}) < model["l"] for heap in heaps):
            yield f"{model['type']} is broken"


def _paths(path: Path, policy: Any, said: Any) -> Iterator[str]:
    how = policy["trajectories"]
    rows, odd = _rows(path, ordered=how["form"] == "column")
    yield from odd
    if len(rows) != said["records"] and how["form"] == "column":
        yield "another number of records"
    if how["form"] == "visits":
        rows, people = _visits(rows, how)
        if len(rows) != said["records"]:
            yield "another number of records"
    else:
        people = [(row[how["path"]] or "").split() for row in rows]
    if any(len(set(points)) < len(points) for points in people):
        yield "a point twice"
    for model in policy["models"]:
        known = {
            some
            for points in people
            for size in range(1, model["l"] + 1)
            for some in combinations(points, size)
        }
        groups = [
            [row for row, of in zip(rows, people, strict=True) if set(some) <= set(of)] for some in known
        ]
        if not _linked(model, model["k"], groups):
            yield f"{model['type']} is broken"


def _visits(rows: list[Row], how: Any) -> tuple[list[Row], list[list[str]]]:
    """A row of each person, and their points."""
    people = _grouped(rows, [how["person"]])
    return [mine[0] for mine in people], [
        [f"{r[how['place']]}@{r[how['time']]}" for r in mine if r[how["place"]] is not None]
        for mine in people  # of whom nothing is left, nothing is known
    ]


def _sets(path: Path, policy: Any, said: Any) -> Iterator[str]:
    how = policy["transactions"]
    if how["form"] == "baskets":
        text = path.read_text("utf-8")
        sets = [line.split(",") if line else [] for line in text.removesuffix("\n").split("\n")]
        if not text.endswith("\n") or [*map(json.dumps, sets)] != sorted(map(json.dumps, sets)):
            yield "baskets stand in another order, or without an end"
    else:
        rows, odd = _rows(path)
        yield from odd
        sets = [(row[how["set"]] or "").split(how["separator"]) if row[how["set"]] else [] for row in rows]
    if len(sets) != said["records"]:
        yield "another number of records"
    if any(
        items != sorted(items) or len({same(i) for i in items}) < len(items) or "" in items for items in sets
    ):
        yield "an item twice, or out of order"
    kinds = [{same(item) for item in items} for items in sets]
    for model in policy.get("models", ()):
        for size in range(1, model["m"] + 1):
            met = Counter(some for items in kinds for some in combinations(sorted(items, key=repr), size))
            if any(many < model["k"] for many in met.values()):
                yield f"{model['type']} is broken"
    for rule in policy.get("hide", ()):
        left, both = (
            {same(i) for i in rule["antecedent"]},
            {same(i) for i in (*rule["antecedent"], *rule["consequent"])},
        )
        support, before = sum(both <= items for items in kinds), sum(left <= items for items in kinds)
        if (
            support
            and support >= Fraction(str(rule["support"]))
            and support >= Fraction(rule["confidence"]) * before
        ):
            yield "a rule is found"


# Documents: years, grades and courses, as tests/forge/every.py makes them.


def _student(tree: Any) -> tuple[Any, Any, list[tuple[Any, Any]]]:
    if isinstance(tree, dict):
        odd = set(tree) - {"year", "gpa", "courses", "sag"}
        below = [(one.get("course"), one.get("grade")) for one in tree.get("courses", [])]
        assert not odd, "other fields"
        gpa = tree.get("gpa")
        return tree.get("year"), None if gpa is None else str(gpa), below
    fields = {**tree.attrib, **{one.tag: one.text for one in tree if one.tag not in {"courses", "course"}}}
    assert not set(fields) - {"year", "gpa", "sag"}, "other fields"
    courses = [one for inner in tree if inner.tag == "courses" for one in inner]
    courses += [one for one in tree if one.tag == "course"]
    inner = [{**one.attrib, **{f.tag: f.text for f in one}} for one in courses]
    return fields.get("year"), fields.get("gpa"), [(one.get("course"), one.get("grade")) for one in inner]


def _read_trees(path: Path) -> list[Any]:
    text = _bytes(path).decode("utf-8")
    if ".xml" in path.name:
        found: Any = list(ET.fromstring(text.encode()))
        return list(found[0]) if found[0].tag == "students" else found
    found = json.loads(text) if ".jsonl" not in path.name else [*map(json.loads, text.splitlines())]
    if isinstance(found, dict):
        found = found["school"]["students"]
    return list(found)


def _trees(path: Path, policy: Any, said: Any) -> Iterator[str]:
    people = [_student(tree) for tree in _read_trees(path)]
    if len(people) != said["records"]:
        yield "another number of records"
    deep = 1 + all(model["type"] == "document-k-anonymity" for model in policy["models"])
    for _, _, courses in people:
        keys = [[(text is None, text or "") for text in one[:deep]] for one in courses]
        if keys != sorted(keys) and policy.get("order") != "kept":
            yield "siblings stand in another order"
    classes: dict[Any, list[tuple[Any, list[tuple[Any, Any]]]]] = defaultdict(list)
    for year, gpa, courses in people:
        ordered = sorted(courses, key=lambda one: repr(one[0]))
        classes[year, tuple(repr(course) for course, _ in ordered)].append((gpa, ordered))
    for model in policy["models"]:
        least = model.get("k", model.get("l"))
        if any(len(members) < least for members in classes.values()):
            yield f"{model['type']} is broken: a class is too small"
        elif "l" in model and not all(_diverse(members, least) for members in classes.values()):
            yield f"{model['type']} is broken"


def _diverse(members: list[tuple[Any, list[tuple[Any, Any]]]], l: int) -> bool:
    """Is there an order of courses that look alike in which no value is too common anywhere?"""

    def rare(values: Iterable[Any]) -> bool:
        met = Counter(map(same, values))
        return max(met.values()) * l <= met.total()

    if not rare(gpa for gpa, _ in members):
        return False
    ways = []
    for _, courses in members:
        mine = [order for order in permutations(courses) if [c for c, _ in order] == [c for c, _ in courses]]
        ways.append([[grade for _, grade in order] for order in mine])
    return any(all(rare(place) for place in zip(*chosen, strict=True)) for chosen in product(*ways))


def _halves(path: Path, policy: Any) -> Iterator[str]:
    (model,) = policy["models"]
    xml = path.suffix == ".xml"
    whole: Any = ET.fromstring(path.read_bytes()) if xml else json.loads(path.read_text("utf-8"))
    groups: list[Any] = list(whole) if xml else whole["groups"]
    for at, group in enumerate(groups):
        name, known = (group.get("id"), list(group[0])) if xml else list(group.values())[:2]
        secret: Any = list(group[1]) if xml else list(group.values())[2]
        if name != f"g{at}":
            yield "a group is called otherwise"
        people = [_student(tree) for tree in known]
        if len(people) < model["l"] or len({len(courses) for _, _, courses in people}) > 1:
            yield f"{model['type']} is broken: a group is too small, or of several shapes"
        if any(gpa is not None or any(g is not None for _, g in courses) for _, gpa, courses in people):
            yield "a sensitive value among what is known"
        if policy["algorithm"]["style"] == "t-t":
            beside = [_student(tree) for tree in secret]
            if any(year is not None or any(c is not None for c, _ in courses) for year, _, courses in beside):
                yield "a known value among what is sensitive"
            heaps = [[gpa for _, gpa, _ in beside]]
            heaps += [list(place) for place in zip(*([g for _, g in c] for _, _, c in beside), strict=False)]
            if any(len(c) != len(people[0][2]) for _, _, c in beside):
                yield "halves of different shapes"
        elif xml:
            heaps = [[one.text for one in heap for _ in range(int(one.get("count")))] for heap in secret]
        else:
            heaps = [[v for v, n in heap["values"].items() for _ in range(n)] for heap in secret.values()]
            heaps = [
                [*h, *[None] * one.get("nulls", 0)] for h, one in zip(heaps, secret.values(), strict=True)
            ]
        if len(heaps) != 1 + len(people[0][2]) or any(len(heap) != len(people) for heap in heaps):
            yield "not a value for each person at each place"
        if any(max(Counter(map(same, heap)).values()) * model["l"] > len(heap) for heap in heaps if heap):
            yield f"{model['type']} is broken"


def _noisy(folder: Path, said: Any) -> Iterator[str]:
    rows, odd = _rows(folder / said["data"]["file"])
    counts, odder = _rows(folder / said["data"]["counts"], ordered=False)
    yield from (*odd, *odder)
    held = Counter({tuple(v for n, v in row.items() if n != "count"): int(row["count"]) for row in counts})
    if held != Counter(tuple(row.values()) for row in rows) or len(held) < len(counts):
        yield "records are not the counts"
    if [tuple(x or "" for x in r.values())[:-1] for r in counts] != sorted(
        tuple(x or "" for x in r.values())[:-1] for r in counts
    ):
        yield "counts stand in another order"
