"""Checks a privet release from its folder alone. Plain Python, standard library only, no code of privet.

    python verify.py DIR [--signer KEY.pub]

It believes two files: policy.toml says what is promised and how the data is read, the data file holds the
records. Of evidence.json it takes the names and digests of files and the number of records, and believes none
of its other numbers: every promise is decided here, from its definition, with whole numbers and fractions. Nor
does it look at report.html; `privet verify` counts those numbers again and draws the page again.

Exit code 0: all hold. 1: something is wrong. 3: nothing is wrong, but something is promised in a way that no
data shows (noise), or in a way or a file that this program does not know (Parquet needs more than the standard
library); it is named, and `privet verify` says more. Python 3.11 or later.

To read it, begin at the end (`verdict`, `judged`). Each kind of data has a part of its own, between lines of
dashes; of the parts about kinds that you do not have, nothing runs.
"""

from __future__ import annotations

import argparse
import base64
import codecs
import csv
import hashlib
import io
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import tomllib
import zlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb, prod
from pathlib import Path
from typing import Any
from unicodedata import normalize
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

LARGEST = 512 * 2**20  # bytes of a file, as it lies there and unpacked
LOOSE = {"utf-7", "unicode_escape", "raw_unicode_escape", "idna", "punycode"}  # encodings
MOST = 1_000_000  # groups that are counted one by one
Row = dict[str, Any]  # a record: texts by the names of columns, None where a value is missing


class Wrong(Exception):
    """The release is not what it says."""


class Unknown(Exception):
    """This file cannot tell."""


def refuse(wrong: Any, why: str) -> None:
    if wrong:
        raise Wrong(why)


# --- files and signatures


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of the folder. Only regular files: a pipe would keep us waiting, a link leads elsewhere."""
    found = {}
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        about = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(about.st_mode) and entry.name.startswith("data."):
            raise Unknown("data in several parts, as a cluster writes it")
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            raise Wrong(f"{entry.name!r} is not a regular file of at most {LARGEST:,} bytes")
        found[entry.name] = Path(entry.path).read_bytes()
    return found


def unpacked(name: str, raw: bytes) -> bytes:
    if not name.endswith(".gz"):
        return raw
    packed = zlib.decompressobj(31)
    text = packed.decompress(raw, LARGEST + 1)
    if any(raw[3:8]) or not packed.eof or packed.unused_data or len(text) > LARGEST:
        raise Wrong(f"{name} unpacks to too much, or holds more than its packed content")
    return text


def check_spelling(files: Mapping[str, bytes]) -> None:
    """What says how to check holds no remarks, and nothing in blanks or in how it is written."""
    for name in {"evidence.json", "signatures.json"} & set(files):
        text = files[name].decode()
        plain = name != "evidence.json"
        if json.dumps(json.loads(text, object_pairs_hook=once), indent=1, ensure_ascii=plain) + "\n" != text:
            raise Wrong(f"{name} holds more than it says")
    bare = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', files["policy.toml"].decode())
    if re.search(r"[#'\r\t]|[ ]+\n|\n\n(?!\[)|  +=|=  +|\A\n|\n\n\Z", bare) or not bare.endswith("\n"):
        raise Wrong("policy.toml holds more than the policy")


def check_files(files: Mapping[str, bytes], evidence: Mapping[str, Any]) -> None:
    """Each file has the digest that the evidence names, and there is no other file."""
    data = evidence["data"]
    named = [data.get(key) for key in ("file", "buckets", "counts")]
    part = {*filter(None, named), *(data.get("tables") or {}).values(), "policy.toml", "report.html"}
    if part != set(evidence["files"]) or part != set(files) - {"evidence.json", "signatures.json"}:
        raise Wrong("the folder holds other files than the release")
    for name, digest in evidence["files"].items():
        if hashlib.sha256(files[name]).hexdigest() != digest:
            raise Wrong(f"{name} is not the file that the evidence was made for")


def check_signatures(files: Mapping[str, bytes], evidence: Mapping[str, Any], asked: str | None) -> str:
    """Every signature is one of these files; who was to sign, and who is asked for, did."""
    signed = loads(files["signatures.json"])["signed"] if "signatures.json" in files else []
    digests = {n: hashlib.sha256(raw).hexdigest() for n, raw in files.items() if n != "signatures.json"}
    for one in signed:
        lines = ["privet release signature v1", f"signer {one['signer']}", f"made {one['made']}"]
        lines += [f"{digests[name]}  {name}" for name in sorted(digests)]
        text = "".join(f"{line}\n" for line in lines).encode()
        if not ed25519(base64.b64decode(one["key"]), base64.b64decode(one["signature"]), text):
            raise Wrong(f"the signature of {one['signer']!r} is not one of these files")
    keys = {one["key"] for one in signed}
    if any(one["key"] not in keys for one in evidence.get("signers") or ()):
        raise Wrong("a signature that the evidence speaks of is missing")
    refuse(asked is not None and public_key(asked) not in keys, "not signed with the key that was asked for")
    return ", ".join(f"signed by {one['signer']}" for one in signed) or "unsigned: nobody vouches for it"


def public_key(given: str) -> str:
    """A public key in base 64: as it is, or out of a PEM file, where it is the last 32 bytes."""
    if not Path(given).is_file():
        return given
    body = "".join(line for line in Path(given).read_text().splitlines() if not line.startswith("-"))
    return base64.b64encode(base64.b64decode(body)[-32:]).decode()


def ed25519(key: bytes, signature: bytes, text: bytes) -> bool:
    """By openssl, or by the library `cryptography`; this file does no cryptography of its own."""
    head = bytes.fromhex("302a300506032b6570032100")  # "an Ed25519 key follows", as openssl wants to hear it
    with tempfile.TemporaryDirectory() as place:
        for name, raw in (("key", head + key), ("signature", signature), ("text", text)):
            Path(place, name).write_bytes(raw)
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key", "-rawin"]
        command += ["-in", "text", "-sigfile", "signature"]
        try:
            return subprocess.run(command, cwd=place, capture_output=True, check=False).returncode == 0
        except OSError:
            pass
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise Unknown("a signature: neither openssl nor the library cryptography is here") from None
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except InvalidSignature:
        return False
    return True


# --- reading as the policy says


def loads(text: str | bytes) -> Any:
    """JSON with numbers as they are written, and no key twice, of which one would not be looked at."""
    return json.loads(text, object_pairs_hook=once, parse_float=str)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    refuse(len(dict(pairs)) < len(pairs), "a key stands twice")
    return dict(pairs)


def written(value: Any) -> str | None:
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def records_of(name: str, raw: bytes, policy: Mapping[str, Any]) -> list[Row]:
    """The rows of a table. One text at most means "missing", and the file has one spelling: what was read, written
    again, is the file.
    """
    form = {"format": None, "delimiter": None, "encoding": "utf-8", "nulls": [""], **policy.get("form", {})}
    if set(form) != {"format", "delimiter", "encoding", "nulls"} or len(form["nulls"]) > 1:
        raise Wrong("the policy says to read the data otherwise than as it stands")
    if form["format"] not in {"csv", "tsv", "jsonl"}:
        raise Unknown(f"data as {form['format']}; ask for csv")
    whole = unpacked(name, raw)
    text = whole.decode(form["encoding"])
    if codecs.lookup(form["encoding"]).name in LOOSE or text.encode(form["encoding"]) != whole:
        raise Wrong("the policy names an encoding in which one text has several spellings")
    if form["format"] == "jsonl":
        parsed = [loads(line) for line in text.removesuffix("\n").split("\n")]
        return [{key: written(v) for key, v in row.items()} for row in parsed]
    mark, null = form["delimiter"], (form["nulls"] or [""])[0]
    refuse(len(mark) != 1 or mark in '"\r\n', "the policy names a delimiter that cannot be one")
    field = re.compile(rf'(?:"((?:[^"]|"")*)"|([^{re.escape(mark)}"\r\n]*))({re.escape(mark)}|\n)')
    table: list[list[str | None]] = [[]]
    at = 0
    while at < len(text):
        found = field.match(text, at)
        quoted = None if found is None or found[1] is None else found[1].replace('""', '"')
        # Quotes stand where they are needed, and around an empty text, which is not a missing one.
        if found is None or (quoted and not any(c in quoted for c in f'{mark}"\n\r')):
            raise Wrong(f"{name} is not written as privet writes")
        plain = None if found[2] == null and len(table) > 1 else found[2]
        table[-1].append(plain if quoted is None else quoted)
        if found[3] == "\n":
            table.append([])
        at = found.end()
    head, *rest = table
    if rest.pop() or any(len(row) != len(head) for row in rest) or len(set(head)) < len(head):
        raise Wrong(f"{name}: a row has other fields than the header, or the last one has no end")
    return [{str(key): value for key, value in zip(head, row, strict=True)} for row in rest]


def check_order(policy: Mapping[str, Any], as_published: bool) -> None:
    if policy.get("order", "canonical") != "kept":
        refuse(not as_published, "the records do not stand in the order of what is published")


def in_order(rows: Sequence[Row]) -> bool:
    """Sorted by what is published, so that the order tells nothing."""
    keys = [[(value is None, value or "") for value in row.values()] for row in rows]
    return all(one <= other for one, other in zip(keys, keys[1:], strict=False))


# --- when two sensitive values are one

NUMBER = re.compile(r"([+-]?)(0|[1-9]\d*|(?=\.\d))(?:\.(\d*))?(?:[eE]([+-]?)0*(\d{1,18}))?", re.ASCII)
ZONE = r"(?: ?(Z|UTC|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?))?"
DATE = re.compile(rf"(\d{{4}}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:[.,](\d+))?)?{ZONE})?", re.ASCII)


@lru_cache(MOST)
def same(value: str | None) -> Any:
    """What equal values share: numbers by value (7, 7.0, 70e-1; but 007 is text), dates by instant, else NFC text.

    Nothing is rounded or written out: a number is its sign, its digits without zeros at the ends, and a power of 10.
    """
    if value is None:
        return None
    if found := NUMBER.fullmatch(value):
        sign, whole, part, direction, power = (group or "" for group in found.groups())
        digits = (whole + part).lstrip("0")
        kept = digits.rstrip("0")
        tens = int(f"{direction}{power or 0}") - len(part) + len(digits) - len(kept)
        return ("number", sign == "-", kept, tens) if kept else ("number", False, "", 0)
    if found := DATE.fullmatch(value):
        day, clock, second, part, zone = (group or "" for group in found.groups())
        try:
            moment = datetime.fromisoformat(f"{day}T{clock or '00:00'}{second[:3]}")
            if zone not in {"", "Z", "UTC"}:
                hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
                moment -= (1 if zone[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes)
        except (ValueError, OverflowError):
            return normalize("NFC", value)
        return "instant", moment, part.rstrip("0")
    return normalize("NFC", value)


def in_numbers(value: Any) -> Fraction:
    """Where a sensitive value stands among others."""
    if not isinstance(value, tuple) or value[0] != "number" or abs(value[3]) + len(value[2]) > 4000:
        raise Unknown("an order of values that are not numbers, or very large ones")
    return Fraction(f"{'-' if value[1] else ''}{value[2] or 0}e{value[3]}")


# --- tables: promises


def exact(number: Any) -> Fraction:
    text = str(number)
    if len(text) > 200 or not re.fullmatch(r"[0-9]*\.?[0-9]*([eE][+-]?[0-9]{1,3})?(/[0-9]+)?%?", text):
        raise Wrong("a bound that the policy names is not a number that can be told")
    return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)


def asked(model: Mapping[str, Any], rows: Sequence[Row]) -> tuple[int, list[tuple[str, Any, Fraction]]]:
    """How many must match; and columns, protected values and the largest shares that they may have."""
    found = []
    sensitive, usual = model.get("sensitive", ()), model.get("c", model.get("alpha"))
    for name in sensitive:
        said = sensitive[name] if isinstance(sensitive, Mapping) else "every"
        items = [{"every": True}] if said == "every" else said
        if isinstance(said, Mapping):
            items = [{"value": value, "at_most": bound} for value, bound in said.items()]
        for item in items:
            item = item if isinstance(item, Mapping) else {"value": item}
            every = {row[name] for row in rows} if item.get("every") else {written(item.get("value"))}
            found += [(name, v, exact(item.get("at_most", usual))) for v in set(map(same, every))]
    refuse(not all(0 < bound <= 1 for _, _, bound in found), "a share that the policy names is not one")
    if model["type"] != "maximum-risk":
        return model.get("k", 1), found
    return -(-exact(model["at_most"]).denominator // exact(model["at_most"]).numerator), found


def groups(rows: Sequence[Row], names: Sequence[str], wildcard: bool) -> Iterator[list[Row]]:
    """The records that agree in these columns; or, where a missing value matches every value, that may agree."""
    if not wildcard:
        found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for row in rows:
            found[tuple(row[name] for name in names)].append(row)
        yield from found.values()
        return
    values = [sorted({row[name] for row in rows} - {None}) or [None] for name in names]
    if prod(map(len, values)) * len(rows) > MOST:
        raise Unknown("missing values that match everything, in a table of this size")
    for known in product(*values):
        match = [row for row in rows if all(row[n] in {v, None} for n, v in zip(names, known, strict=True))]
        if match:
            yield match


def linkage(model: Mapping[str, Any], rows: Sequence[Row], quasi: Sequence[str], wildcard: bool) -> bool:
    """Any l known values match at least k records, and no protected value has more than its share of them."""
    quasi = model.get("quasi", quasi)
    k, bounds = asked(model, rows)
    most = min(model.get("l", len(quasi)), len(quasi))
    least = min(1, most) if wildcard else most  # records that agree in more columns agree in fewer
    if sum(comb(len(quasi), size) for size in range(least, most + 1)) > MOST:
        raise Unknown("so many sets of columns")
    return all(
        len(group) >= k
        and all(Counter(same(row[n]) for row in group)[v] <= at_most * len(group) for n, v, at_most in bounds)
        for size in range(least, most + 1)
        for names in combinations(quasi, size)
        for group in groups(rows, names, wildcard)
    )


def ln(number: Fraction) -> Fraction:
    """To a hundred digits: far more than any two shares of counted records can differ by."""
    with localcontext() as context:
        context.prec = 100
        return Fraction((Decimal(number.numerator) / Decimal(number.denominator)).ln())


def shares(values: Sequence[Any]) -> dict[Any, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def distance(model: Mapping[str, Any], p: Mapping[Any, Fraction], q: Mapping[Any, Fraction]) -> Fraction:
    """How far the shares of a class lie from those of the table."""
    how, zero = model["distance"], Fraction(0)
    if how in {"equal", "variational"}:
        return sum((abs(p.get(v, zero) - q[v]) for v in q), zero) / 2
    if how == "kl":
        return sum((p[v] * ln(p[v] / q[v]) for v in p), zero)
    if how == "ordered":
        order = [same(written(v)) for v in model.get("order") or ()]
        order = order or sorted((v for v in q if v is not None), key=in_numbers)
        order += [None] if None in q else []
        refuse(set(q) - set(order), "a value has no place in the order that the policy names")
        moved = carried = zero
        for value in order:
            carried += p.get(value, zero) - q.get(value, zero)
            moved += abs(carried)
        return moved / max(1, len(order) - 1)
    raise Unknown(f"t-closeness by {how}")


def class_keeps(model: Mapping[str, Any], group: Sequence[Any], table: Sequence[Any]) -> Any:
    """Does a class, by the values of one sensitive column in it and in the whole table, keep a promise?"""
    n, counts = len(group), sorted(Counter(group).values(), reverse=True)
    p, q, zero = shares(group), shares(table), Fraction(0)
    match model["type"]:
        case "distinct-l-diversity":
            return len(counts) >= model["l"]
        case "p-sensitive-k-anonymity":
            return n >= model["k"] and len(counts) >= model["p"]
        case "entropy-l-diversity":  # -sum p ln p >= ln l, times n, without logarithms
            return len(counts) >= model["l"] and n**n >= model["l"] ** n * prod(c**c for c in counts)
        case "recursive-l-diversity":
            return counts[0] < exact(model["c"]) * sum(counts[model["l"] - 1 :])
        case "t-closeness":
            return distance(model, p, q) <= exact(model["t"])
        case "beta-likeness":
            return all(p[v] - q[v] <= exact(model["beta"]) * q[v] for v in p)
        case "enhanced-beta-likeness":
            return all(p[v] - q[v] <= min(exact(model["beta"]), -ln(q[v])) * q[v] for v in p)
        case "delta-disclosure":
            return all(p.get(v, zero) and abs(ln(p[v] / q[v])) < exact(model["delta"]) for v in q)
    raise Unknown(f"the promise {model['type']}")


def risk_keeps(model: Mapping[str, Any], sizes: Sequence[int]) -> bool:
    """Promises about all classes at once."""
    records, at_most = sum(sizes), exact(model["at_most"])
    refuse(at_most > 1, "a share that the policy names is not one")
    if model["type"] == "average-risk":
        return Fraction(len(sizes), records) <= at_most
    above = exact(model["above"]) if model["type"] == "records-at-risk" else Fraction(1, 2)
    return Fraction(sum(size for size in sizes if Fraction(1, size) > above), records) <= at_most


LINKAGE = {"k-anonymity", "lkc-privacy", "alpha-k-anonymity", "confidence-bounding", "maximum-risk"}
RISKS = {"average-risk", "records-at-risk", "sample-uniqueness"}
# Of how it was made, or of others:
UNSHOWN = {"by-construction", "differential-privacy", "k-map", "delta-presence"}
KEYS = {"type", "k", "l", "c", "alpha", "p", "t", "beta", "delta", "at_most", "above", "sensitive", "quasi"}
KEYS |= {"distance", "order"}


def keeps(model: Mapping[str, Any], rows: Sequence[Row], quasi: Sequence[str], wildcard: bool) -> bool:
    """Does a table of records keep a promise?"""
    if set(model) - KEYS:
        raise Unknown(f"{model['type']} with {', '.join(sorted(set(model) - KEYS))}")
    if model["type"] in LINKAGE:
        return linkage(model, rows, quasi, wildcard)
    if wildcard:
        raise Unknown("missing values that match everything, with a promise about classes")
    classes = list(groups(rows, quasi, wildcard=False))
    if model["type"] in RISKS:
        return risk_keeps(model, list(map(len, classes)))
    return all(
        class_keeps(model, [same(row.get(name)) for row in group], [same(row.get(name)) for row in rows])
        for name in model.get("sensitive", [None])
        for group in classes
    )


# --- tables: records

DISGUISES = {"hash": "[0-9a-f]{64}", "pseudonym": "P-[0-9A-HJKMNP-TV-Z]{12}"}
DISGUISES["shift"] = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].+)?"


def check_disguises(policy: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """A name in a column that is said to be masked is a name that has left."""
    for name, about in policy.get("attributes", {}).items():
        how = about.get("publish") if isinstance(about, Mapping) else None
        if how == "mask":
            first, last = about.get("first", 0), about.get("last", 0)
            pattern = rf"\*{{4}}|.{{{first}}}\*{{4}}.{{{last}}}"
        else:
            pattern = DISGUISES.get(str(how), "(?s:.*)")
        if any(row.get(name) is not None and not re.fullmatch(pattern, row[name], re.DOTALL) for row in rows):
            raise Wrong(f"a value of column {name!r} is not in the disguise that the policy says")


def of_table(policy: Mapping[str, Any], tables: Sequence[list[Row]]) -> tuple[list[Row], list[str]]:
    """The records of a table, or of two that are linked by buckets, and their quasi-identifiers."""
    gone = set(policy.get("publish_only", {}))
    attributes = [(n, a) for n, a in policy["attributes"].items() if n not in gone]
    roles = {n: a if isinstance(a, str) else a["role"] for n, a in attributes}
    shown = {n for n, role in roles.items() if role != "identifier" or "publish" in policy["attributes"][n]}
    quasi = [name for name, role in roles.items() if role == "quasi"]
    rows = tables[0]
    check_disguises(policy, rows)
    if len(tables) == 1:
        if not rows or any(set(row) != shown for row in rows):
            raise Wrong("the data has other columns than the policy publishes")
        return rows, quasi
    (sensitive,) = (name for name, role in roles.items() if role == "sensitive")
    columns = shown - {sensitive} | {"bucket"}, {"bucket", sensitive, "records"}
    if any(set(row) != columns[at] for at in (0, 1) for row in tables[at]):
        raise Wrong("the data has other columns than the policy publishes")
    if not all(re.fullmatch("[1-9][0-9]*", row["records"] or "") for row in tables[1]):
        raise Wrong("a count of records is not a plain whole number from 1 on")
    held = [{**row, "records": int(row["records"])} for row in tables[1]]
    in_held: Counter[Any] = Counter()
    for row in held:
        in_held[row["bucket"]] += row["records"]
    if Counter(row["bucket"] for row in rows) != in_held or not all(in_order(table) for table in tables[1:]):
        raise Wrong("the two tables do not have the same records in their buckets")
    return [row for row in held for _ in range(row["records"])], ["bucket"]


# --- paths

POINT = re.compile(r"(.*)@(.*)|(.*\D)(\d+)", re.ASCII | re.DOTALL)


def of_paths(policy: Mapping[str, Any], rows: Sequence[Row]) -> list[tuple[frozenset[Any], Row]]:
    """Each person's points, and a row of theirs."""
    how = policy["trajectories"]
    if how["form"] == "column":
        found = []
        for row in rows:
            text = (row[how["path"]] or "").strip()
            text = text[1:-1].strip() if text.startswith("<") else text
            points, arrow = [], r"\s*(?:→|->)\s*"
            between = arrow if re.search(arrow, text) or "@" in text else r"\s+"
            for word in filter(None, re.split(between, text)):
                parts = POINT.fullmatch(word)
                points.append(tuple(part for part in parts.groups() if part is not None) if parts else ())
            refuse(() in points, "a point is not a place and a time")
            refuse(len(set(points)) < len(points), "a path has a point twice")
            found.append((frozenset(points), row))
        return found
    if how["form"] not in {"visits", "readings"}:
        raise Unknown(f"paths as {how['form']}")
    persons: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        persons[row.pop(how["person"])].append(row)
    check_order(policy, visits_in_order(persons, policy["attributes"].get(how["person"]), how["time"]))
    for mine in persons.values():
        times = [row[how["time"]] for row in mine]
        apart = [{n: v for n, v in row.items() if n not in {how["place"], how["time"]}} for row in mine]
        if len(set(times)) < len(times) or any(one != apart[0] for one in apart):
            raise Wrong("a person is twice somewhere, at two places at once, or has two values of one column")
    places = (
        [(row[how["place"]], row[how["time"]]) for row in mine if row[how["place"]] is not None]
        for mine in persons.values()
    )
    return [(frozenset(there), mine[0]) for there, mine in zip(places, persons.values(), strict=True)]


def visits_in_order(persons: Mapping[Any, list[Row]], named: Any, time: str) -> bool:
    """Each person's visits stand by time; persons by their disguised names, or numbered by what is published."""
    if not all(re.fullmatch("[0-9]{1,18}", row[time] or "0") for mine in persons.values() for row in mine):
        raise Unknown("the order of times that are not whole numbers")
    rows = [[[(v is None, v or "") for v in row.values()] for row in mine] for mine in persons.values()]
    for mine, texts in zip(persons.values(), rows, strict=True):
        by_time = [(int(row[time] or 0), text) for row, text in zip(mine, texts, strict=True)]
        if by_time != sorted(by_time):
            return False
    numbers = [str(at + 1) for at in range(len(persons))]
    return list(persons) == (sorted(persons) if named else numbers) and bool(named or rows == sorted(rows))


def path_keeps(model: Mapping[str, Any], persons: Sequence[tuple[frozenset[Any], Row]]) -> bool:
    """Any l known points match at least k persons, and no protected value has more than its share of them."""
    if model["type"] not in LINKAGE or set(model) - KEYS:
        raise Unknown(f"{model['type']} of paths")
    k, bounds = asked(model, [row for _, row in persons])
    longest = max(len(points) for points, _ in persons)
    most = min(model.get("l", longest), longest) if model["type"] == "lkc-privacy" else longest
    if sum(comb(len(points), size) for points, _ in persons for size in range(1, most + 1)) > MOST:
        raise Unknown("so many sequences of points")
    for size in range(1, most + 1):
        support: Counter[Any] = Counter()
        having: Counter[Any] = Counter()
        for points, row in persons:
            for known in combinations(sorted(points), size):
                support[known] += 1
                for at, (name, value, _) in enumerate(bounds):
                    having[known, at] += same(row[name]) == value
        for known, people in support.items():
            if people < k or any(having[known, at] > bound[2] * people for at, bound in enumerate(bounds)):
                return False
    return True


# --- documents


def tree_of(element: Any, kind: str, types: Mapping[str, Any]) -> Row:
    """An XML element as its keys and values, as JSON has them."""
    below = types[kind].get("children", {})
    found: Row = {name: text if text.strip() else None for name, text in element.attrib.items()}
    if any(set(name) & set("{:/") for name in (*found, *below)) or (element.text or "").strip():
        raise Unknown("name spaces, or text beside elements")
    for inner in element:
        key = next((key for key, child in below.items() if inner.tag in {key, child}), None)
        if key is None:
            if len(inner) or inner.attrib or inner.tag in found:
                raise Unknown("an element that is not a field, a list or a child")
            found[inner.tag] = (inner.text or "").strip() or None
            continue
        wrapper = not inner.attrib and inner.tag == key and all(one.tag == below[key] for one in inner)
        many = found.setdefault(key, [])
        many += [tree_of(one, below[key], types) for one in (inner if wrapper else [inner])]
    return found


def xml_lines(element: Any, indent: str) -> Iterator[str]:
    """An element as privet writes it."""
    head = " ".join([element.tag, *(f"{name}={quoteattr(text)}" for name, text in element.attrib.items())])
    if not len(element):
        end = f">{escape(element.text)}</{element.tag}>" if element.text else "/>"
        yield f"{indent}<{head}{end}"
        return
    yield f"{indent}<{head}>"
    for inner in element:
        yield from xml_lines(inner, indent + "  ")
    yield f"{indent}</{element.tag}>"


def text_of(found: re.Match[str]) -> str:
    """A text of JSON, of which there is one spelling."""
    if json.dumps(json.loads(found[0]), ensure_ascii=False) != found[0]:
        raise Wrong("a text is not written as privet writes")
    return '""'


def xml_of(name: str, raw: bytes) -> Any:
    """The outermost element of a file that has one spelling."""
    if b"<!" in raw or b"xmlns" in raw:
        raise (Wrong if b"<!" in raw else Unknown)("a document type, a comment, or name spaces")
    found = ET.fromstring(raw)  # noqa: S314 - without a document type nothing expands
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', *xml_lines(found, ""), ""]
    refuse("\n".join(lines) != raw.decode(), f"{name} is not written as privet writes")
    return found


def json_of(name: str, raw: bytes, head: str = "", end: str = "") -> list[Any]:
    """The objects of a file that has one spelling: one on each line, or between a head and an end."""
    lines = raw.decode().removesuffix("\n").split("\n")
    if head:
        first, *lines, last = lines
        if (first, last) != (head, end) or not all(line.endswith(",") for line in lines[:-1]):
            raise Wrong(f"{name} is not written as privet writes")
        lines = [*(line[:-1] for line in lines[:-1]), *lines[-1:]]
    for line in lines:
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', text_of, line)
        if re.search(r"[,:](?! \S)|(?<![,:])\s|\s\s", bare) or not isinstance(loads(line), dict):
            raise Wrong(f"{name} is not written as privet writes")
    return [loads(line) for line in lines]


def of_trees(policy: Mapping[str, Any], name: str, raw: bytes) -> list[Any]:
    """The records of a collection, each as nested keys and values."""
    about = policy["documents"]
    record = about.get("record", {})
    if name.endswith(".xml"):
        found, way = xml_of(name, raw), record.get("xml", "").split("/")[1:]
        if not way or found.tag != way[0]:
            raise Unknown("records whose place the policy does not name")
        return [tree_of(one, record["type"], about["types"]) for one in found.iterfind("/".join(way[1:]))]
    if not name.endswith(".json"):
        return json_of(name, raw)
    steps = [one or other for one, other in re.findall(r"\.(\w+)|\['([^']+)'\]", record.get("json", ""))]
    head = "".join(f"{{{json.dumps(step, ensure_ascii=False)}: " for step in steps) + "["
    refuse(not raw.endswith(b"\n"), f"{name} is not written as privet writes")
    return json_of(name, raw, head, "]" + "}" * len(steps))


def quasi_of(told: Mapping[str, Any]) -> list[str]:
    quasi = told.get("quasi", [])
    return [quasi] if isinstance(quasi, str) else quasi


def walk(tree: Any, kind: str, types: Mapping[str, Any], level: int = 0) -> Iterator[tuple[int, str, Any]]:
    """Every vertex with its level and type, parents first, children in the order of the policy's types."""
    yield level, kind, tree
    below = types[kind].get("children", {})
    for key, child in sorted(below.items(), key=lambda pair: list(types).index(pair[1])):
        items = tree.get(key, [])
        for one in items if isinstance(items, list) else [items]:
            yield from walk(one, child, types, level + 1)


def tree_order(tree: Any, about: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """What trees are sorted by: what is known of them, then all of it; vertex after vertex."""
    known, whole, types = [], [], about["types"]
    for level, kind, vertex in walk(tree, about["record"]["type"], types):
        told, place = types[kind], (level, list(types).index(kind))
        names = [
            *quasi_of(told),
            *([told["sensitive"]] if "sensitive" in told else []),
            *told.get("other", ()),
        ]
        texts = {name: (vertex.get(name) is None, written(vertex.get(name)) or "") for name in names}
        known.append((*place, tuple(texts[name] for name in quasi_of(told))))
        whole.append((*place, tuple(texts.values())))
    return known, whole


def seen(value: Any, kind: str, about: Mapping[str, Any]) -> Any:
    """What promises see of a sensitive value: the value, or the bucket that the policy puts it in."""
    found, sensitive = same(written(value)), about["types"][kind]["sensitive"]
    buckets = about.get("attributes", {}).get(f"{kind}.{sensitive}", {}).get("buckets")
    if buckets is not None and found is not None:
        edges = [Fraction(edge) for edge in buckets.get("edges", ())]
        if set(buckets) != {"edges"}:
            raise Unknown("buckets that are not said by their edges")
        refuse(not edges[0] <= in_numbers(found) <= edges[-1], "a value is outside all buckets")
        found = min(bisect_right(edges, in_numbers(found)), len(edges) - 1)
    return "value", found


def laid(vertex: Any, kind: str, about: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """A tree without its sensitive values, alike for trees that are alike, and these values in the same order."""
    told = about["types"][kind]
    quasi, sensitive = quasi_of(told), told.get("sensitive")
    known = {*quasi, *told.get("children", {}), sensitive, *told.get("other", ())}
    if not isinstance(vertex, Mapping) or set(vertex) - known:
        raise Unknown("a tree that is not written with its keys")
    below = []
    for key, child in told.get("children", {}).items():
        items = vertex.get(key, [])
        below += [laid(one, child, about) for one in (items if isinstance(items, list) else [items])]
    below.sort(key=lambda part: repr(part[0]))  # what looks alike stays as it is written
    here = "none" if sensitive is None else seen(vertex.get(sensitive), kind, about)
    form = (kind, tuple(written(vertex.get(name)) for name in quasi), tuple(repr(part[0]) for part in below))
    return form, [here, *(one for part in below for one in part[1])]


def tree_keeps(model: Mapping[str, Any], trees: Iterable[Any], policy: Mapping[str, Any]) -> Any:
    """Every tree is one of k that look alike; and, of l, at each vertex no value has a share above 1/l of them."""
    about = policy["documents"]
    root = about.get("record", {}).get("type", next(iter(about["types"])))
    classes = defaultdict(list)
    for tree in trees:
        form, values = laid(tree, root, about)
        classes[repr(form)].append(values)
    least = min(map(len, classes.values()))
    if model["type"] == "document-k-anonymity":
        return least >= model["k"]
    if model["type"] != "document-l-diversity":
        raise Unknown(f"the promise {model['type']}")
    wrong = [
        form
        for form, members in classes.items()
        for place in zip(*members, strict=True)
        if place[0] != "none" and max(Counter(place).values()) * model["l"] > len(members)
    ]
    if least >= model["l"] and any(form.count("(") > 1 for form in wrong):
        raise Unknown("trees that may keep it with their children in another order")
    return least >= model["l"] and not wrong


# --- documents in halves: trees without sensitive values, and beside them, group by group, these values


def of_halves(policy: Mapping[str, Any], name: str, raw: bytes) -> list[Row]:
    """The groups: an id, trees of what is known, and trees of what is sensitive ("t-t") or heaps of it ("v-v")."""
    style, l = policy["algorithm"]["style"], min(m["l"] for m in policy["models"] if "l" in m)
    root, types = policy["documents"]["record"]["type"], policy["documents"]["types"]
    parts = ["qi_trees", "sa_trees"] if style == "t-t" else ["aqi_trees", "sa_groups"]
    if not name.endswith(".xml"):
        groups = json_of(name, raw, f'{{"method": "{style}", "l": {l}, "groups": [', "]}")
        refuse(any(list(group) != ["id", *parts] for group in groups), "a group does not have its two halves")
        return groups
    found = xml_of(name, raw)
    if (found.tag, found.attrib) != ("publication", {"method": style, "l": str(l)}):
        raise Wrong("the data is in another style than the policy says, or of another l")
    groups = []
    for one in found:
        halves = [half.tag.replace("-", "_") for half in one]
        if one.tag != "group" or set(one.attrib) != {"id"} or halves != parts:
            raise Wrong("a group does not have its two halves")
        made: Row = {"id": one.attrib["id"], halves[0]: [tree_of(tree, root, types) for tree in one[0]]}
        if style == "t-t":
            made["sa_trees"] = [tree_of(tree, root, types) for tree in one[1]]
        else:
            made["sa_groups"] = {heap.attrib["id"]: heap_of(heap) for heap in one[1]}
            refuse(len(made["sa_groups"]) < len(one[1]), "two heaps of values have one name")
        groups.append(made)
    return groups


def heap_of(element: Any) -> Row:
    """A heap of sensitive values as JSON writes it."""
    if element.tag != "sa-group" or set(element.attrib) != {"id", "attribute"}:
        raise Wrong("a heap of values is not written as privet writes")
    made: Row = {"attribute": element.attrib["attribute"], "values": {}}
    for one in element:
        if one.tag not in {"value", "null"} or set(one.attrib) != {"count"} or (one.text in made["values"]):
            raise Wrong("a heap of values is not written as privet writes")
        count = int(one.attrib["count"]) if re.fullmatch("[1-9][0-9]*", one.attrib["count"]) else 0
        if one.tag == "null":
            made["nulls"] = count
        else:
            made["values"][one.text or ""] = count
    return made


def vertices(tree: Any, about: Mapping[str, Any], half: str) -> list[tuple[int, str, Any]]:
    """Every vertex of a half, none with a field of the other half."""
    found = list(walk(tree, about["record"]["type"], about["types"]))
    for _, kind, vertex in found:
        told = about["types"][kind]
        fields = [told.get("sensitive")] if half == "sa" else [*quasi_of(told), *told.get("other", ())]
        beyond = set(vertex) - {*fields, *told.get("children", ()), *(["sag"] if half == "aqi" else [])}
        refuse(beyond, "a tree has a field that does not belong into its half")
    return found


def heaped(
    number: int, shape: Sequence[Any], trees: Sequence[Any], heaps: Row, about: Mapping[str, Any]
) -> Any:
    """The values of each heap of a group. It is named by group, level and number there, as its vertices name it."""
    met: Counter[int] = Counter()
    found: list[list[Any]] = []
    names: list[Any] = []
    for level, kind in shape:
        sensitive = about["types"][kind].get("sensitive")
        met[level] += sensitive is not None
        names.append(None if sensitive is None else f"g{number}:G{level}.{met[level]}")
        if sensitive is None:
            continue
        heap = heaps[names[-1]]
        shared = sum(one.get("sensitive") == sensitive for one in about["types"].values()) > 1
        counts = [*heap["values"].items(), *([(None, heap["nulls"])] if "nulls" in heap else [])]
        if (
            heap["attribute"] != (f"{kind}.{sensitive}" if shared else sensitive)
            or set(heap) - {"attribute", "values", "nulls"}
            or list(heap["values"]) != sorted(heap["values"])
            or any(type(count) is not int or count < 1 for _, count in counts)
        ):
            raise Wrong("a heap of values is not written as privet writes")
        found.append([seen(value, kind, about) for value, count in counts for _ in range(count)])
    if any([one[2].get("sag") for one in tree] != names for tree in trees) or [*filter(None, names)] != list(
        heaps
    ):
        raise Wrong("trees of a group name other heaps of values than it has")
    return found


def half_keeps(model: Mapping[str, Any], groups: Sequence[Row], policy: Mapping[str, Any]) -> bool:
    """Each group is of at least l people with trees of one shape; at no vertex has a value a share above 1/l."""
    if model["type"] != "anatomy-l-diversity":
        raise Unknown(f"the promise {model['type']}")
    about = policy["documents"]
    types, whole = about["types"], policy["algorithm"]["style"] == "t-t"
    order, good = [], True
    for number, group in enumerate(groups):
        known = [vertices(tree, about, "qi" if whole else "aqi") for tree in list(group.values())[1]]
        secret = [vertices(tree, about, "sa") for tree in group["sa_trees"]] if whole else []
        shape = [vertex[:2] for vertex in known[0]]
        keys = [[tree_order(tree[0][2], about) for tree in half] for half in (known, secret)]
        order.append(keys[0])
        if group["id"] != f"g{number}" or any([v[:2] for v in tree] != shape for tree in (*known, *secret)):
            raise Wrong("a group has another name than its number, or trees of different shapes")
        check_order(policy, all(half == sorted(half) for half in keys))
        if whole:
            places = [
                [seen(tree[at][2].get(types[kind]["sensitive"]), kind, about) for tree in secret]
                for at, (_, kind) in enumerate(shape)
                if "sensitive" in types[kind]
            ]
        else:
            places = heaped(number, shape, known, group["sa_groups"], about)
        if any(len(values) != len(known) for values in places):
            raise Wrong("a group has not one value for each person")
        good &= len(known) >= model["l"]
        good &= all(max(Counter(values).values()) * model["l"] <= len(known) for values in places)
    check_order(policy, order == sorted(order))
    return good


# --- sets


def of_sets(policy: Mapping[str, Any], name: str, raw: bytes) -> list[tuple[frozenset[Any], Row]]:
    """Each record's items, and what stands beside them."""
    how = policy["transactions"]
    mark = how.get("separator", " " if how["form"] == "column" else ",")
    if how["form"] == "baskets" and not mark.isspace():
        lines = csv.reader(io.StringIO(unpacked(name, raw).decode(), newline=""), delimiter=mark, strict=True)
        found: list[tuple[list[str], Row]] = [(line, {}) for line in lines]
        order = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line, _ in found]
        check_order(policy, order == sorted(order))
    elif how["form"] == "column" and len(mark) == 1:
        rows = records_of(name, raw, policy)
        found = [((row[how["set"]] or "").split(mark), row) for row in rows]
        check_order(policy, in_order(rows))
    else:
        raise Unknown(f"sets as {how['form']}")
    texts = {item for items, _ in found for item in items}
    odd = any(list(items) != sorted(set(items)) or ("" in items and items != [""]) for items, _ in found)
    if odd or any(item != item.strip() for item in texts) or len(set(map(same, texts))) < len(texts):
        raise Wrong("an item stands twice, out of order, between blanks, or in two spellings")
    return [(frozenset(same(item) for item in items if item), row) for items, row in found]


def set_keeps(
    model: Mapping[str, Any], sets: Sequence[tuple[frozenset[Any], Row]], quasi: Sequence[str]
) -> bool:
    """Any m known items match k records of a class; or nobody who mines finds the rule."""
    if model["type"] == "km-anonymity":
        classes = Counter(tuple(row[name] for name in quasi) for _, row in sets)
        if sum(comb(len(items), size) for items, _ in sets for size in range(1, model["m"] + 1)) > MOST:
            raise Unknown("so many sets of items")
        found = Counter(
            (tuple(row[name] for name in quasi), known)
            for items, row in sets
            for size in range(1, min(model["m"], len(items)) + 1)
            for known in combinations(sorted(items, key=repr), size)
        )
        return all(many >= model["k"] for many in (*found.values(), *(classes.values() if quasi else ())))
    left = {same(written(item)) for item in model.get("antecedent", ())}
    both = left | {same(written(item)) for item in (*model.get("consequent", ()), *model.get("itemset", ()))}
    support, before = (sum(items >= some for items, _ in sets) for some in (both, left))
    least = exact(model["support"])
    seen = support and support >= (least if least.denominator == 1 else least * len(sets))
    return not (seen and ("confidence" not in model or support >= exact(model["confidence"]) * before))


# --- all together

PERSONS = " of persons, whom only the steward can count"
PARTS = {"policy", "kind", "purpose", "nulls", "order", "attributes", "models", "algorithm", "form"}
PARTS |= {
    "rows",
    "absent",
    "publish_only",
    "trajectories",
    "documents",
    "transactions",
    "hide",
    "person",
    "across",
}


def promises(policy: Mapping[str, Any]) -> list[Any]:
    """What the data can show. Rules to hide stand in a list of their own, and are promises like others."""
    models = [model for model in policy.get("models", ()) if model["type"] not in UNSHOWN]
    if "person" in policy:
        models = [weaker for model in models for weaker in of_records(model)]
    return [*models, *({"type": "hidden-rule", **rule} for rule in policy.get("hide", ()))]


def of_records(model: Row) -> list[Row]:
    """What follows for records from a promise about persons, who may have several, and whom the release does not name.

    Groups have no fewer records than persons, nor fewer values. Shares of persons are no shares of records.
    """
    if model["type"] in {"distinct-l-diversity", "p-sensitive-k-anonymity"}:
        return [model]
    k = asked(model, [])[0] if model["type"] in LINKAGE else 1
    bound = {"l": model["l"]} if model["type"] == "lkc-privacy" else {}
    return [{"type": "lkc-privacy" if bound else "k-anonymity", "k": k, **bound}] if k > 1 or bound else []


def judged(policy: Row, files: Mapping[str, bytes], data: Row) -> tuple[int, list[Any]]:
    """How many records there are, and for each promise whether it holds: True, False, or why nobody can tell here."""
    beyond, kind, name = set(policy) - PARTS, policy.get("kind", "table"), data["file"]
    if beyond or kind not in {"table", "trajectories", "documents", "transactions"}:
        raise Unknown(", ".join(sorted(beyond)) or f"releases of {kind} like this")
    promised = promises(policy)
    for m in promised:
        numbers = [m[key] for key in ("klp" if m["type"].startswith("p-sens") else "klm") if key in m]
        if any(type(one) is not int or one < 1 for one in numbers) or not m.get("sensitive", True):
            raise Wrong(f"{m['type']} is not promised with whole numbers from 1 on, or of no attribute")
    wildcard = policy.get("nulls", "value") == "wildcard"
    roles = {n: a if isinstance(a, str) else a["role"] for n, a in policy.get("attributes", {}).items()}
    quasi = [name for name, role in roles.items() if role == "quasi"]
    odd = [a for a in policy.get("attributes", {}).values() if "hierarchy" in a and a["role"] != "quasi"]
    if odd or (kind == "table" and not quasi):
        raise Wrong("the policy has no quasi-identifier, or generalises what is not one")
    if kind == "documents":
        if data.get("tables"):
            raise Unknown("documents as tables")
        if policy["algorithm"]["type"] == "tree-anatomy":
            groups = of_halves(policy, name, unpacked(name, files[name]))
            people = sum(len(list(group.values())[1]) for group in groups)
            return people, [told(lambda m=m: half_keeps(m, groups, policy)) for m in promised]
        trees = of_trees(policy, name, unpacked(name, files[name]))
        order = [tree_order(tree, policy["documents"]) for tree in trees]
        check_order(policy, order == sorted(order))
        return len(trees), [told(lambda m=m: tree_keeps(m, trees, policy)) for m in promised]
    if kind == "transactions":
        sets = of_sets(policy, name, files[name])
        check_disguises(policy, [row for _, row in sets])
        return len(sets), [told(lambda m=m: set_keeps(m, sets, quasi)) for m in promised]
    if policy["algorithm"]["type"] in {"diffgen", "noisy-contingency"}:
        return noisy(policy, files, data), []
    split = kind == "table" and policy["algorithm"]["type"] in {"anatomy", "bucketisation"}
    if split != bool(data.get("buckets")) or data.get("tables") or data.get("counts"):
        raise Wrong("the evidence names other tables than the algorithm of the policy publishes")
    if split and any(m.get("k", 1) != 1 or m["type"] in RISKS | {"maximum-risk"} for m in policy["models"]):
        raise Wrong("buckets show each record as it is: they keep promises about sensitive values only")
    tables = [records_of(one, files[one], policy) for one in (name, data.get("buckets")) if one]
    by_person = kind != "table" and policy["trajectories"]["form"] != "column"
    check_order(policy, by_person or in_order(tables[0]))
    if kind == "trajectories":
        persons = of_paths(policy, tables[0])
        rows = [row for _, row in persons]
        check_disguises(policy, rows)
        checks = [lambda m=m: path_keeps(m, persons) for m in promised]
        checks += [lambda m=m: keeps(m, rows, quasi, wildcard) for m in promised if quasi]
        return len(persons), [told(check) for check in checks]
    rows, quasi = of_table(policy, tables)
    return len(rows), [told(lambda m=m: keeps(m, rows, quasi, wildcard)) for m in promised]


def noisy(policy: Row, files: Mapping[str, bytes], data: Row) -> int:
    """How many noisy records there are. They are the counts, row by row; that noise was drawn, no table shows."""
    tables = [records_of(one, files[one], policy) for one in (data["file"], data.get("counts")) if one]
    columns = {n for n, a in policy["attributes"].items() if a["role"] in {"quasi", "target"}}
    counts = [(tuple(row.values()), row.pop("count", None)) for row in tables[-1]]
    if not all(re.fullmatch("-?(0|[1-9][0-9]*)", count or "") for _, count in counts):
        raise Wrong("a count of records is not a plain whole number")
    if any(set(row) != columns for table in tables for row in table) or not all(map(in_order, tables)):
        raise Wrong("the data has other columns than the policy publishes, or rows out of order")
    held = {tuple(row.values()): int(count) for row, (_, count) in zip(tables[-1], counts, strict=True)}
    if len(held) < len(counts) or (
        policy["algorithm"].get("output", "records") != "records" and len(tables) > 1
    ):
        raise Wrong("two counts for the same row, or counts beside counts")
    if len(tables) > 1 and Counter(tuple(row.values()) for row in tables[0]) != Counter(held):
        raise Wrong("the records are not the counts, each row as often as its count says")
    return sum(max(0, count) for count in held.values())


def told(check: Any) -> Any:
    try:
        return check()
    except Unknown as unknown:
        return str(unknown)


def verdict(folder: Path, signer: str | None = None) -> tuple[int, list[str]]:
    """0, 1 or 3, as said at the top, and the lines that say why."""
    try:
        files = contents(folder)
        evidence, policy = loads(files["evidence.json"]), tomllib.loads(files["policy.toml"].decode())
        check_files(files, evidence)
        check_spelling(files)
        lines = [check_signatures(files, evidence, signer)]
        records, found = judged(policy, files, evidence["data"])
        if records != evidence["records"]:
            raise Wrong(f"the evidence speaks of {evidence['records']} records, the data has {records}")
    except Wrong as wrong:
        return 1, [f"WRONG: {wrong}"]
    except Unknown as unknown:
        return 3, [f"not known here: {unknown}"]
    except (RecursionError, MemoryError):
        return 3, ["not known here: something that stands so deep, or is so large"]
    except Exception as error:  # noqa: BLE001 - whatever it is, it was made by somebody's files
        return 1, [f"WRONG: this does not read as a release ({type(error).__name__})"]
    shown = [model["type"] for model in promises(policy)]
    words = ["holds" if one is True else "BROKEN" if one is False else one for one in found]
    lines += [f"{shown[at % len(shown)]}: {word}" for at, word in enumerate(words)]
    unshown = [m["type"] for m in policy.get("models", ()) if m["type"] in UNSHOWN or "person" in policy]
    lines += [f"{name}{PERSONS * ('person' in policy)}: the release does not show it" for name in unshown]
    if not found:
        lines.append("not known here: nothing of this release can be counted again")
    return (1 if False in found else 0 if found and all(one is True for one in found) else 3), lines


def main() -> int:
    parser = argparse.ArgumentParser(description="Check a privet release from its folder alone.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--signer", help="a public key (PEM file or base 64) that must have signed")
    asked = parser.parse_args()
    code, lines = verdict(asked.folder, asked.signer)
    print(*lines, sep="\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
