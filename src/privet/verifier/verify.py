"""Checks a privet release from its folder alone. Plain Python, standard library only, no code of privet.

    python verify.py DIR [--signer KEY.pub]

It believes two files: policy.toml says what is promised and how the data is read, the data file holds the
records. Of evidence.json it takes the names and digests of files and the number of records, and believes none
of its other numbers: every promise is decided here, from its definition, with whole numbers and fractions. Nor
does it look at report.html; `privet verify` counts those numbers again and draws the page again.

Exit code 0: all hold. 1: something is wrong. 3: nothing is wrong, but something is promised in a way that no
data shows (noise, whose records they are), or in a way or a file that this program does not know (Parquet needs more than the standard
library); it is named, and `privet verify` says more. Python 3.11 or later.

To read it, begin at the end (`verdict`, `judged`). Each kind of data has a part of its own, between lines of
dashes; `privet verifier --kind table` writes the program without the parts of other kinds.
"""

from __future__ import annotations

import argparse
import base64
import codecs
import hashlib
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations, product
from math import comb, prod
from pathlib import Path
from typing import Any
from unicodedata import normalize
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

LARGEST = 512 * 2**20  # bytes of a file, as it lies there and unpacked
SIGNED = r"[+\-\uff0b\uff0d][0-9.,]*[0-9][0-9.,]*([eE][+-]?[0-9]+)? ?%?\Z"
BEGINS = r"=+@\t\r\n\uff1d\uff0b\uff0d\uff20\-"
FORMULA = rf"(?!{SIGNED})[{BEGINS}][\s\S]*[^ {BEGINS}][\s\S]*"  # what a spreadsheet may run
LOOSE = {"utf-7", "unicode-escape", "raw-unicode-escape", "idna", "punycode"}  # encodings
MOST = 1_000_000  # groups that are counted one by one
Row = dict[str, Any]  # a record: texts by the names of columns, None where a value is missing
People = Sequence[tuple[Sequence[Any], Row]]  # what can be known of each, and a row of theirs


KINDS: dict[str, Any] = {}  # how each kind of data is read and judged, and the words of its policies


class Wrong(Exception):
    """The release is not what it says."""


class Unknown(Exception):
    """This file cannot tell."""


def refuse(wrong: Any, why: str) -> None:
    if wrong:
        raise Wrong(why)


def unsure(unknown: Any, why: str) -> None:
    if unknown:
        raise Unknown(why)


# --- files and signatures


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of the folder. Only regular files: a pipe would keep us waiting, a link leads elsewhere."""
    found = {}
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        about = entry.stat(follow_symlinks=False)
        parts = stat.S_ISDIR(about.st_mode) and entry.name.startswith("data.")
        unsure(parts, "data in several parts, as a cluster writes it")
        fine = stat.S_ISREG(about.st_mode) and about.st_size <= LARGEST
        refuse(not fine, f"{entry.name!r} is not a regular file of at most {LARGEST:,} bytes")
        found[entry.name] = Path(entry.path).read_bytes()
    return found


def unpacked(name: str, raw: bytes) -> bytes:
    if not name.endswith(".gz"):
        return raw
    packed = zlib.decompressobj(31)
    text = packed.decompress(raw, LARGEST + 1)
    more = any(raw[3:8]) or not packed.eof or packed.unused_data or len(text) > LARGEST
    refuse(more, f"{name} unpacks to too much, or holds more than its packed content")
    return text


def check_files(files: dict[str, bytes], evidence: Row, policy: Row) -> None:
    """Each file has the digest that the evidence names, and there is no other file, nor a remark in one."""
    data, kind = evidence["data"], policy["form"].get("format")
    named = [data.get(key) for key in ("file", "buckets", "counts")]
    end = {None: "", "baskets": ".basket", "stata": ".dta", "spss": ".sav"}.get(kind, f".{kind}")
    odd = any(one and not re.fullmatch(rf"[a-z]+(\.\w+)*{end}(\.gz)?", one) for one in named)
    refuse(odd, "the data has another name than the format that the policy says")
    part = {*filter(None, named), *(data.get("tables") or {}).values(), "policy.toml", "report.html"}
    others = part != set(evidence["files"]) or part != set(files) - {"evidence.json", "signatures.json"}
    refuse(others, "the folder holds other files than the release")
    for name, digest in evidence["files"].items():
        other = hashlib.sha256(files[name]).hexdigest() != digest
        refuse(other, f"{name} is not the file that the evidence was made for")
    for name in {"evidence.json", "signatures.json"} & set(files):
        text, plain = files[name].decode(), name != "evidence.json"
        again = json.dumps(json.loads(text, object_pairs_hook=once), indent=1, ensure_ascii=plain) + "\n"
        refuse(again != text, f"{name} holds more than it says")


def check_signatures(files: dict[str, bytes], evidence: Row, asked: str | None) -> str:
    """Every signature is one of these files; who was to sign, and who is asked for, did."""
    raw = files.get("signatures.json", b'{"signed": []}')
    signed = loads(raw)["signed"]
    fields = [[one[name] for name in ("signer", "key", "made", "signature")] for one in signed]
    odd = any(len(one[0]) > 200 or not "".join(one).isprintable() for one in fields)
    odd |= len({one[1] for one in fields}) < len(fields)
    plain = [dict(zip(("signer", "key", "made", "signature"), one, strict=True)) for one in fields]
    alone = json.dumps({"signatures": 1, "signed": plain}, indent=1) + "\n"
    refuse(odd or (signed and raw.decode() != alone), "signatures.json is not what privet writes")
    refuse(not signed and "signatures.json" in files, "signatures.json holds not one signature")
    digests = {n: hashlib.sha256(raw).hexdigest() for n, raw in files.items() if n != "signatures.json"}
    for one in signed:
        lines = ["privet release signature v1", f"signer {one['signer']}", f"made {one['made']}"]
        lines += [f"{digests[name]}  {name}" for name in sorted(digests)]
        text = "".join(f"{line}\n" for line in lines).encode()
        key, signature = (base64.b64decode(one[name], validate=True) for name in ("key", "signature"))
        good = len(key) == 32 and len(signature) == 64 and ed25519(key, signature, text)
        refuse(not good, f"the signature of {one['signer']!r} is not one of these files")
    keys = {one["key"] for one in signed}
    missing = any(one["key"] not in keys for one in evidence.get("signers") or ())
    refuse(missing, "a signature that the evidence speaks of is missing")
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
        command = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in text -sigfile signature"
        try:
            return not subprocess.run(command.split(), cwd=place, capture_output=True, check=False).returncode
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


class Number(str):
    """A number of JSON that Python would write otherwise: 7e0."""

    __slots__ = ()


def once(pairs: list[tuple[str, Any]]) -> Row:
    refuse(len(dict(pairs)) < len(pairs), "a key stands twice")
    return dict(pairs)


def loads(text: str | bytes) -> Any:
    """JSON with numbers as they are written, and no key twice, of which one would not be looked at."""
    whole = lambda said: int(said) if str(int(said)) == said else Number(said)  # noqa: E731
    return json.loads(text, object_pairs_hook=once, parse_float=Number, parse_int=whole, parse_constant=int)


def dumps(value: Any, comma: str = ", ", colon: str = ": ") -> str:
    """What `loads` read, in its one spelling."""
    if isinstance(value, dict):
        inner = [f"{dumps(key)}{colon}{dumps(one, comma, colon)}" for key, one in value.items()]
        return f"{{{comma.join(inner)}}}"
    if isinstance(value, list):
        return f"[{comma.join(dumps(one, comma, colon) for one in value)}]"
    return value if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def written(value: Any) -> str | None:
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def published(policy: Row) -> set[str]:
    """The columns that may leave."""
    about = policy["attributes"].items()
    return {name for name, a in about if a["role"] != "identifier" or "publish" in a}


def check_order(policy: Row, as_published: bool) -> None:
    wrong = policy["order"] != "kept" and not as_published
    refuse(wrong, "the records do not stand in the order of what is published")


# --- rows of tables


def decoded(name: str, raw: bytes, policy: Row) -> str:
    whole, encoding = unpacked(name, raw), policy["form"]["encoding"]
    text, coded = whole.decode(encoding), codecs.lookup(encoding).name.replace("_", "-")
    loose = coded in LOOSE or text.encode(encoding) != whole
    refuse(loose, "the policy names an encoding in which one text has several spellings")
    return text


def records_of(name: str, raw: bytes, policy: Row) -> list[Row]:
    """The rows of a table. One text at most means "missing", and the file has one spelling."""
    form = {"format": None, "delimiter": ",", **policy["form"]}
    unsure(form["format"] not in {"csv", "tsv", "jsonl"}, f"data as {form['format']}; ask for csv")
    text, other = decoded(name, raw, policy), f"{name} is not written as privet writes"
    if form["format"] == "jsonl":
        rows = [loads(line) for line in text.removesuffix("\n").split("\n")]
        refuse("".join(dumps(row, ",", ":") + "\n" for row in rows) != text, other)
        refuse(any(list(row) != list(rows[0]) for row in rows), "a row has other fields than the first")
        for column in rows[0]:
            values = {type(row[column]): row[column] for row in rows if row[column] is not None}
            refuse(len(values) > 1, f"{name}: not all values of a column are written in one way")
        numbers = [v for row in rows for v in row.values() if isinstance(v, Number)]
        plain = all(re.sub(r"e[+]?(-?)0*", r"e\1", repr(float(one))) == one for one in numbers)
        unsure(not plain, "numbers that are written in many ways")
        return [{key: written(value) for key, value in row.items()} for row in rows]
    null = (form["nulls"] or [None])[0]
    head, *rest = cells_of(text, form["delimiter"], other)
    uneven = any(len(row) != len(head) for row in rest) or len(set(head)) < len(head)
    refuse(uneven, f"{name}: a row has other fields than the header")
    refuse(null != "" and any(cell == ("", True) for row in rest for cell in row), other)
    texts = [[None if bare and text == null else text for text, bare in row] for row in rest]
    cells: list[list[str | None]] = [[text for text, _ in head], *texts]
    run = "formulas" in policy and any(re.fullmatch(FORMULA, text or "") for row in cells for text in row)
    refuse(run, "a cell begins like a formula, though the policy says that they are escaped")
    return [{key: value for (key, _), value in zip(head, row, strict=True)} for row in texts]


def cells_of(text: str, mark: str, other: str) -> list[list[tuple[str, bool]]]:
    """Texts, line by line, and whether each is bare: quotes stand where they are needed, and around an empty
    text, which is not a missing one.
    """
    refuse(len(mark) != 1 or mark in '"\r\n', "the policy names a delimiter that cannot be one")
    m, at = re.escape(mark), 0
    field = re.compile(rf'(?:"((?:[^"]|"")*)"|([^{m}"\r\n]*))({m}|\n)')
    table: list[list[tuple[str, bool]]] = [[]]
    while cell := field.match(text, at):
        value, at = cell[2] if cell[1] is None else cell[1].replace('""', '"'), cell.end()
        refuse(cell[1] and not re.search(rf'[{m}"\r\n]', value), other)
        table[-1].append((value, cell[1] is None))
        if cell[3] == "\n":
            table.append([])
    refuse(at < len(text) or table.pop(), other)
    return table


def in_order(rows: Sequence[Row]) -> bool:
    """Sorted by what is published, so that the order tells nothing."""
    keys = [[(value is None, value or "") for value in row.values()] for row in rows]
    return all(one <= other for one, other in zip(keys, keys[1:], strict=False))


DISGUISES = {
    "hash": "[0-9a-f]{64}",
    "pseudonym": "P-[0-9A-HJKMNP-TV-Z]{12}",
    "shift": r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].+)?",
}


def check_disguises(policy: Row, rows: Sequence[Row]) -> None:
    """A name in a column that is said to be masked is a name that has left."""
    for name, about in policy["attributes"].items():
        pattern = DISGUISES.get(str(about.get("publish")), ".*")
        if about.get("publish") == "mask":
            pattern = rf"\*{{4}}|.{{{about.get('first', 0)}}}\*{{4}}.{{{about.get('last', 0)}}}"
        texts = {row[name] for row in rows if row.get(name) is not None}
        bare = not all(re.fullmatch(pattern, text, re.DOTALL) for text in texts)
        refuse(bare, f"a value of column {name!r} is not in the disguise that the policy says")


# --- equality: when two sensitive values are one

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
    plain = isinstance(value, tuple) and value[0] == "number" and abs(value[3]) + len(value[2]) <= 4000
    unsure(not plain, "an order of values that are not numbers, or very large ones")
    return Fraction(f"{'-' if value[1] else ''}{value[2] or 0}e{value[3]}")


# --- groups of records that cannot be told apart


def matching(people: Sequence[tuple[Sequence[Any], Any]], least: int, most: int) -> Iterator[list[Any]]:
    """For everything that somebody may know, `least` to `most` things together: the rows of all who have it."""
    many = 0
    for things, _ in people:
        for size in range(least, min(most, len(things)) + 1):
            many += comb(len(things), size) if size < len(things) else 0
            unsure(many > MOST, "so many things that can be known together")
    for size in range(least, min(most, max((len(things) for things, _ in people), default=0)) + 1):
        found = defaultdict(list)
        for things, row in people:
            for known in combinations(things, size):
                found[known].append(row)
        yield from found.values()


def linkage(model: Row, rows: Sequence[Row], groups: Iterable[list[Row]]) -> bool:
    """In each group are at least k records, and no protected value has more than its share of them."""
    k, bounds = asked(model, rows)
    for group in groups:
        counts = {name: Counter(same(row[name]) for row in group) for name, _, _ in bounds}
        if len(group) < k or any(counts[name][value] > most * len(group) for name, value, most in bounds):
            return False
    return True


def classes(rows: Sequence[Row], names: Sequence[str]) -> Iterator[list[Row]]:
    """The records that agree in these columns."""
    return matching([([row[name] for name in names], row) for row in rows], len(names), len(names))


def perhaps(rows: Sequence[Row], names: Sequence[str]) -> Iterator[list[Row]]:
    """The records that may agree in these columns, where a missing value matches every value."""
    values = [sorted({row[name] for row in rows} - {None}) or [None] for name in names]
    many = prod(map(len, values)) * len(rows)
    unsure(many > MOST, "missing values that match everything, in a table of this size")
    for known in product(*values):
        match = [row for row in rows if all(row[n] in {v, None} for n, v in zip(names, known, strict=True))]
        if match:
            yield match


def links(model: Row, rows: Sequence[Row], quasi: Sequence[str], policy: Row) -> bool:
    """Of a table: any l known values match at least k records."""
    quasi, wildcard = model.get("quasi", quasi), policy["nulls"] == "wildcard"
    most = min(model.get("l", len(quasi)), len(quasi))
    least = min(1, most) if wildcard else most  # records that agree in more columns agree in fewer
    many = sum(comb(len(quasi), size) for size in range(least, most + 1)) * len(rows)
    unsure(many > 100 * MOST, "so many sets of columns")
    known = (names for size in range(least, most + 1) for names in combinations(quasi, size))
    alike = perhaps if wildcard else classes
    return linkage(model, rows, (group for names in known for group in alike(rows, names)))


# --- classes of records


def ln(number: Fraction) -> Fraction:
    """To a hundred digits: far more than any two shares of counted records can differ by."""
    with localcontext() as context:
        context.prec = 100
        return Fraction((Decimal(number.numerator) / Decimal(number.denominator)).ln())


def shares(values: Sequence[Any]) -> dict[Any, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def distance(model: Row, p: dict[Any, Fraction], q: dict[Any, Fraction]) -> Fraction:
    """How far the shares of a class lie from those of the table."""
    how, zero = model["distance"], Fraction(0)
    if how in {"equal", "variational"}:
        return sum((abs(p.get(v, zero) - q[v]) for v in q), zero) / 2
    if how == "kl":
        return sum((p[v] * ln(p[v] / q[v]) for v in p), zero)
    unsure(how != "ordered", f"t-closeness by {how}")
    order = [same(written(v)) for v in model.get("order") or ()]
    order = order or sorted((v for v in q if v is not None), key=in_numbers)
    order += [None] if None in q else []
    refuse(set(q) - set(order), "a value has no place in the order that the policy names")
    moved = carried = zero
    for value in order:
        carried += p.get(value, zero) - q.get(value, zero)
        moved += abs(carried)
    return moved / max(1, len(order) - 1)


def class_keeps(model: Row, group: Sequence[Any], q: dict[Any, Fraction]) -> Any:
    """Does a class keep a promise, by its values of one sensitive column and by their shares in the table?"""
    n, counts = len(group), sorted(Counter(group).values(), reverse=True)
    p, zero = shares(group), Fraction(0)
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


def risk_keeps(model: Row, sizes: Sequence[int]) -> bool:
    """Promises about all classes at once."""
    records, at_most = sum(sizes), exact(model["at_most"])
    refuse(at_most > 1, "a share that the policy names is not one")
    if model["type"] == "average-risk":
        return Fraction(len(sizes), records) <= at_most
    above = exact(model["above"]) if model["type"] == "records-at-risk" else Fraction(1, 2)
    return Fraction(sum(size for size in sizes if Fraction(1, size) > above), records) <= at_most


def keeps(model: Row, rows: Sequence[Row], quasi: Sequence[str], policy: Row) -> bool:
    """Does a table of records keep a promise?"""
    if model["type"] in LINKAGE:
        return links(model, rows, quasi, policy)
    unsure(policy["nulls"] == "wildcard", "missing values that match everything, of a promise about classes")
    groups = list(classes(rows, quasi))
    if model["type"] in RISKS:
        return risk_keeps(model, list(map(len, groups)))
    for name in model["sensitive"]:
        table = shares([same(row[name]) for row in rows])
        if not all(class_keeps(model, [same(row[name]) for row in group], table) for group in groups):
            return False
    return True


# --- tables


def of_table(policy: Row, files: dict[str, bytes], data: Row) -> Any:
    """The records of a table, or of two that are linked by buckets; and what is asked of them."""
    split = policy["algorithm"]["type"] in {"anatomy", "bucketisation"}
    other = split != bool(data.get("buckets")) or data.get("tables") or data.get("counts")
    refuse(other, "the evidence names other tables than the algorithm of the policy publishes")
    linked = any(m.get("k", 1) != 1 or m["type"] in RISKS | {"maximum-risk"} for m in policy["models"])
    refuse(split and linked, "buckets show each record as it is: they keep no promise about finding it")
    tables = [records_of(one, files[one], policy) for one in (data["file"], data.get("buckets")) if one]
    rows = tables[0]
    check_order(policy, in_order(rows))
    check_disguises(policy, rows)
    about = {n: a for n, a in policy["attributes"].items() if n not in policy.get("publish_only", {})}
    shown = published(policy) - set(policy.get("publish_only", {}))
    quasi, secret = ([n for n, a in about.items() if a["role"] == role] for role in ("quasi", "sensitive"))
    columns = [shown - {*secret} | {"bucket"}, {"bucket", *secret, "records"}] if split else [shown]
    odd = any(set(row) != names for table, names in zip(tables, columns, strict=True) for row in table)
    refuse(odd or not rows, "the data has other columns than the policy publishes")
    if split:
        quasi, counts, held = ["bucket"], tables[1], Counter[Any]()
        plain = all(re.fullmatch("[1-9][0-9]*", row["records"] or "") for row in counts)
        refuse(not plain, "a count of records is not a plain whole number from 1 on")
        for row in counts:
            held[row["bucket"]] += int(row["records"])
        odd = Counter(row["bucket"] for row in rows) != held or not in_order(counts)
        refuse(odd or len(secret) != 1, "the two tables do not have the same records in their buckets")
        rows = [row for row in counts for _ in range(int(row["records"]))]
    return rows, [lambda model: keeps(model, rows, quasi, policy)]


IN_ROWS = """
protected: *t|%held; held: every|*item|%f|*bound; item: t|@null|@each; each: every=yes
bound: @of|@of_null|@of_every; of: value=t at_most=f; of_null: null=yes at_most=f; of_every: every=yes at_most=f
promise k-anonymity: k=m; promise k-map: k=m subset=t values=*t; promise delta-presence: low=p high=q subset=t values=*t
promise alpha-k-anonymity: alpha=q k=m sensitive=protected; promise lkc-privacy: l=m k=m c=q sensitive=protected
promise confidence-bounding: sensitive=protected quasi?=*w; promise average-risk,maximum-risk: at_most=q
promise records-at-risk: above=q at_most=p; promise sample-uniqueness: at_most=p
promise population-uniqueness: at_most=p fraction=q; promise by-construction:; promise differential-privacy: epsilon=g
promise distinct-l-diversity,entropy-l-diversity: l=m sensitive=*w; promise recursive-l-diversity: c=g l=m sensitive=*w
promise p-sensitive-k-anonymity: p=m k=m sensitive=*w; promise delta-disclosure: delta?=g sensitive=*w
promise beta-likeness: beta=f sensitive=*w; promise enhanced-beta-likeness: beta?=f sensitive=*w
promise personalised-privacy: at_most=p sensitive=*w guard=t tree=.; promise pm-privacy: rules=*. exact=b
promise safe-harbor: dates=*t areas=*t ages=*t
promise t-closeness: t=p sensitive=*w distance=costs,equal,hierarchical,kl,ordered,variational order?=*w tree?=.
    costs?=.
"""
KINDS["table"] = of_table, IN_ROWS + """
search anatomy,microaggregation,safe-lattice:
search auto: purpose?=classification,counts,general loss=loss recoding=full-domain,global,local labels=labels
    suppression=p effort=m time_limit?=x weights?=%x
search bucketisation: relaxed=b cuts=labels choice=best,median
search coincident: start?=m strategy=UA,UU interleaved=b grow=b strict=b
search condensation: k=2.. mode=static,stream noise=f alpha=m
search incognito,samarati: loss=loss suppression=p weights?=%x levels?=%level
search local: time_limit?=x looks?=m labels=labels refine=n weights?=%x levels?=%level
search mondrian: relaxed=b cuts=labels choice=best,median output?=hierarchy,levels,means,ranges weights?=%x
search optimal: loss=loss suppression=p weights?=%x levels?=%level time_limit?=x nodes?=m seed=.. trim=b
search pram: keep=p columns=*w replacement=frequency,uniform
search rank-swap: within=q columns=*w; search sampling: share=q
search suppression: mode=cells,records suppression=p weights?=%x
search top-down: score?=discernibility,gain-per-loss,information-gain splits=best-valid,strict tries=m
loss: class-size,discernibility,entropy,lm,precision; labels: hierarchy,levels,ranges; level: n|pair
"""  # fmt: skip


# --- noise


def of_noise(policy: Row, files: dict[str, bytes], data: Row) -> Any:
    """How many noisy records there are. They are the counts, row by row; that noise was drawn, no table shows."""
    tables = [records_of(one, files[one], policy) for one in (data["file"], data.get("counts")) if one]
    columns = {n for n, a in policy["attributes"].items() if a["role"] in {"quasi", "target"}}
    counts = [row.pop("count", None) or "" for row in tables[-1]]
    plain = all(re.fullmatch("-?(0|[1-9][0-9]*)", count) for count in counts)
    refuse(not plain, "a count of records is not a plain whole number")
    odd = any(set(row) != columns for table in tables for row in table) or not all(map(in_order, tables))
    refuse(odd, "the data has other columns than the policy publishes, or rows out of order")
    held = Counter({tuple(row.values()): int(n) for row, n in zip(tables[-1], counts, strict=True)})
    twice = len(tables) > 1 and policy["algorithm"].get("output", "records") != "records"
    refuse(twice or len(held) < len(counts), "two counts for the same row, or counts beside counts")
    other = len(tables) > 1 and Counter(tuple(row.values()) for row in tables[0]) != held
    refuse(other, "the records are not the counts, each row as often as its count says")
    return range(sum(max(0, count) for count in held.values())), []


KINDS["table with noise"] = of_noise, IN_ROWS + """
search diffgen: consistency=clamp,raw,totals records_per_person=m noise=exact,opendp output=counts,records
    h?=m buy_h?=q score=information-gain,max selection=monotone,standard counts=fixed,leftover
    threshold=deviation,rare class_totals=p marginals=p
search noisy-contingency: consistency=clamp,raw,totals records_per_person=m noise=exact,opendp
    output=counts,records
"""  # fmt: skip


# --- paths

POINT = re.compile(r"(.*)@(.*)|(.*\D)(\d+)", re.ASCII | re.DOTALL)


def of_paths(policy: Row, files: dict[str, bytes], data: Row) -> Any:
    """Each person's points, and a row of theirs; any l known points match at least k persons."""
    how, table = policy["trajectories"], records_of(data["file"], files[data["file"]], policy)
    unsure(how["form"] not in {"column", "visits", "readings"}, f"paths as {how['form']}")
    own = {how[key] for key in ("path", "person", "place", "time") if key in how}
    odd = any(not set(row) <= own | published(policy) for row in table)
    refuse(odd, "the data has other columns than the policy publishes")
    if how["form"] == "column":
        check_order(policy, in_order(table))
        people: People = [(points_of(row[how["path"]]), row) for row in table]
    else:
        people = visits(policy, table)
    rows = [row for _, row in people]
    check_disguises(policy, rows)
    quasi = [name for name, about in policy["attributes"].items() if about["role"] == "quasi"]

    def path_keeps(model: Row) -> bool:
        unsure(
            model["type"] not in LINKAGE - {"alpha-k-anonymity", "maximum-risk"}, f"{model['type']} of paths"
        )
        longest = max(len(points) for points, _ in people)
        most = model.get("l", longest) if model["type"] == "lkc-privacy" else longest
        return linkage(model, rows, matching(people, 1, most))

    beside = [lambda model: links(model, rows, quasi, policy)] if quasi else []
    return rows, [path_keeps, *beside]


def points_of(path: str | None) -> list[tuple[str, ...]]:
    text, arrow, points = (path or "").strip(), r"\s*(?:→|->)\s*", []
    text = text[1:-1].strip() if text.startswith("<") else text
    for word in filter(None, re.split(arrow if re.search(arrow, text) or "@" in text else r"\s+", text)):
        parts = POINT.fullmatch(word)
        points.append(tuple(part for part in parts.groups() if part is not None) if parts else ())
    odd = () in points or len(set(points)) < len(points)
    refuse(odd, "a point twice, or one that is not a place and a time")
    return sorted(points)


def visits(policy: Row, rows: Sequence[Row]) -> People:
    """Persons, each with several rows. Visits stand by time; persons by their disguised names, or numbered by
    what is published.
    """
    how, persons = policy["trajectories"], defaultdict(list)
    whose = [row.pop(how["person"]) for row in rows]
    for name, row in zip(whose, rows, strict=True):
        persons[name].append(row)
    texts = [[[(v is None, v or "") for v in row.values()] for row in mine] for mine in persons.values()]
    if policy["order"] != "kept":
        plain = all(row[how["time"]] is None or re.fullmatch("[0-9]{1,18}", row[how["time"]]) for row in rows)
        unsure(not plain, "the order of times that are not whole numbers")
        by_time = [[int(row[how["time"]] or 0) for row in mine] for mine in persons.values()]
        pairs = [list(zip(*both, strict=True)) for both in zip(by_time, texts, strict=True)]
        named = how["person"] in policy["attributes"]
        names = sorted(persons) if named else [str(at + 1) for at in range(len(persons))]
        together = [name for name in names for _ in persons[name]]
        by_name = whose == together and (named or texts == sorted(texts))
        check_order(policy, by_name and all(pair == sorted(pair) for pair in pairs))
    people = []
    for mine in persons.values():
        times = [row[how["time"]] for row in mine]
        apart = [{n: v for n, v in row.items() if n not in {how["place"], how["time"]}} for row in mine]
        odd = len(set(times)) < len(times) or any(one != apart[0] for one in apart)
        refuse(odd, "a person is twice somewhere, at two places at once, or has two values of one column")
        points = [(row[how["place"]], row[how["time"]]) for row in mine if row[how["place"]] is not None]
        people.append((sorted(points), mine[0]))
    return people


KINDS["trajectories"] = of_paths, IN_ROWS + """
trajectories column: path=t empty?=drop zones?=tree
trajectories visits: person=t place=t time=t empty?=drop zones?=tree
trajectories readings: person=t place=t time=t slot?=n|s clash?=first empty?=drop zones?=tree
search lightest: support=h score=score loss=patterns,visits ways=+global,local slots=*s grids=*10..1000000
search suppress-points: support=h score=score cover=exact,greedy
search suppress-points-locally: support=h score=score
score: gain,gain-per-loss,least-loss
"""  # fmt: skip


# --- documents

IN_XML = [{"attribute", "element"}, {"attribute", "empty"}, {"empty", "absent"}]
UNLIKE = [{"number", "digits"}, {"boolean", "truth"}, {"null", "absent"}, {"array", "object"}, *IN_XML]


def of_documents(judge: Any, policy: Row, files: dict[str, bytes], data: Row) -> Any:
    """The records of a collection, each as nested keys and values; or halves of them in groups."""
    unsure(data.get("tables"), "documents as tables")
    refuse(policy["form"]["encoding"].lower().replace("_", "-") != "utf-8", "documents in another encoding")
    about, name, forms = policy["documents"], data["file"], defaultdict[Any, set[str]](set)
    for told in about["types"].values():
        told.update({"quasi": [], "sensitive": None, "other": [], "identifier": [], "children": {}, **told})
        below, fields = [*told["children"].values()], told["quasi"] + told["other"] + told["identifier"]
        odd = len({*below}) < len(below) or len({*fields, told["sensitive"]}) <= len(fields)
        refuse(odd or not (told["quasi"] or told["sensitive"]), "a type of the policy that no vertex has")
    raw, name = unpacked(name, files[name]), name.removesuffix(".gz")
    about["beyond"] = Unknown if name.endswith(".xml") else Wrong  # in XML a field may have another name
    people, check = judge(policy, name, raw, forms)
    two_ways = any(pair <= seen for seen in forms.values() for pair in UNLIKE)
    layouts = [{one for one in seen if one.startswith(("wrapped", "direct"))} for seen in forms.values()]
    refuse(two_ways or any(len(one) > 1 for one in layouts), f"{name}: a tree is written unlike the others")
    return people, [check]


def from_json(raw: Any, kind: str, about: Row, forms: Any) -> Row:
    """A tree by its keys."""
    unsure(not isinstance(raw, dict), "a tree that is not written with its keys")
    found: list[tuple[str, str, Any]] = []
    for name, value in raw.items():
        if child := about["types"][kind]["children"].get(name):
            form, many = ("array", value) if isinstance(value, list) else ("object", [value])
            below = [from_json(one, child, about, forms) for one in many]
            found.append((form if len(many) < 2 else "several", name, below))
            continue
        unsure(isinstance(value, (dict, list)), "values with a type, as MongoDB writes them")
        form = "null" if value is None else "boolean" if isinstance(value, bool) else "number"
        if type(value) is str:
            plain = re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", value)
            form = "digits" if plain else "truth" if value in {"true", "false"} else "text"
        found.append((form, name, written(value)))
    return noted(found, kind, about, forms)


def from_xml(element: Any, kind: str, about: Row, forms: Any) -> Row:
    """The same of an element: fields are attributes or elements; children stand in it, or in a wrapper."""
    below = about["types"][kind]["children"]
    odd = any(set(name) & set("{:/") for name in (*element.attrib, *below)) or (element.text or "").strip()
    unsure(odd, "name spaces, or text beside elements")
    found: list[tuple[str, str, Any]] = [("attribute", name, text) for name, text in element.attrib.items()]
    for inner in element:
        key = next((key for key, child in below.items() if inner.tag in {key, child}), None)
        if key is None:
            unsure(len(inner) or inner.attrib, "an element that is not a field, a list or a child")
            found.append(("element" if inner.text else "empty", inner.tag, inner.text))
            continue
        child = below[key]
        wrapper = inner.tag == key != child and not inner.attrib and all(one.tag == child for one in inner)
        trees = [from_xml(one, child, about, forms) for one in (inner if wrapper else [inner])]
        found.append((f"wrapped {child}" if wrapper else f"direct {inner.tag}", key, trees))
    return noted(found, kind, about, forms)


def noted(found: list[tuple[str, str, Any]], kind: str, about: Row, forms: Any) -> Row:
    """A tree by its keys, which stand in the order of the policy; how each is written is noted, since one that
    is written unlike the others could be found.
    """
    told, made = about["types"][kind], Row()
    fields = [name for name in (*told["quasi"], told["sensitive"], *told["other"]) if name]
    names = [*fields, *told["children"]]
    if any(name not in names for _, name, _ in found):
        raise about["beyond"]("a tree has a field that does not belong into it, or into its half")
    order = [(form != "attribute", names.index(name)) for form, name, _ in found]
    refuse(order != sorted(order), "fields stand in another order than in the policy")
    for form, name, value in found:
        refuse(name in made and "direct" not in form, "a field or a list stands twice")
        blank = not value.strip() if form == "attribute" else form == "element" and value != value.strip()
        refuse(blank or value == [], "blanks, or an empty list")
        made[name] = made.get(name, []) + value if isinstance(value, list) else value
        forms[kind, name].add(form)
    for name in set(fields) - set(made):
        forms[kind, name].add("absent")
    return made


def xml_lines(element: Any, indent: str) -> Iterator[str]:
    """An element as privet writes it."""
    head = " ".join([element.tag, *(f"{name}={quoteattr(text)}" for name, text in element.attrib.items())])
    if not len(element):
        text = element.text or ""
        end = f">{escape(text)}</{element.tag}>" if text.strip() else "/>"
        yield f"{indent}<{head}{end}"
        return
    yield f"{indent}<{head}>"
    for inner in element:
        yield from xml_lines(inner, indent + "  ")
    yield f"{indent}</{element.tag}>"


def xml_of(name: str, raw: bytes, way: Sequence[str], head: str = "") -> list[Any]:
    """The elements at the end of a way, in a file that has one spelling and holds nothing beside them."""
    refuse(b"<!" in raw, "a document type, or a comment")
    unsure(b"xmlns" in raw, "name spaces")
    found = [ET.fromstring(raw)]  # noqa: S314 - without a document type nothing expands
    for _ in way:
        found = [inner for one in found for inner in one]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', *(f"<{step}{head}>" for step in way)]
    lines += [line for one in found for line in xml_lines(one, "  " * len(way))]
    text = "\n".join([*lines, *(f"</{step}>" for step in reversed(way)), ""])
    refuse(text != raw.decode(), f"{name} is not written as privet writes")
    return found


def json_of(name: str, raw: bytes, head: str = "", end: str = "") -> list[Any]:
    """The objects of a file that has one spelling: one on each line, or between a head and an end."""
    text = raw.decode()
    lines = text.removesuffix("\n").split("\n")[1:-1] if head else text.removesuffix("\n").split("\n")
    found = [loads(line.removesuffix(",") if head else line) for line in lines]
    between = ",\n" if head else "\n"
    again = between.join(map(dumps, found)) + "\n"
    refuse((f"{head}\n{again}{end}\n" if head else again) != text, f"{name} is not written as privet writes")
    return found


def of_trees(policy: Row, name: str, raw: bytes, forms: Any) -> Any:
    """How many records there are, and what is asked of them."""
    about = policy["documents"]
    record, root = about["record"], about["record"]["type"]
    if name.endswith(".xml"):
        way = record.get("xml", "").split("/")[1:]
        unsure(not way or not all(way), "records whose place the policy does not name")
        found = xml_of(name, raw, way[:-1])
        refuse(any(one.tag != way[-1] for one in found), "something stands beside the records")
        trees = [from_xml(one, root, about, forms) for one in found]
    else:
        place = record.get("json", "$[*]") if name.endswith(".json") else "$"
        steps = [one or key for one, key in re.findall(r"\.([^.\[\]]+)|\['([^']+)'\]|\[\*\]", place)]
        steps += [""] if steps and steps[-1] else []  # an empty step is a list
        head = "".join(f"{{{dumps(step)}: " if step else "[" for step in steps)
        end = "".join("}" if step else "]" for step in reversed(steps))
        trees = [from_json(one, root, about, forms) for one in json_of(name, raw, head, end)]
    order = [tree_order(tree, about) for tree in trees]
    # Other promises deal values out, and siblings that look alike stay as they are.
    alike = all(model["type"] == "document-k-anonymity" for model in policy["models"])
    kin = all(kin_in_order(tree, root, about, alike) for tree in trees)
    check_order(policy, kin and order == sorted(order))
    return range(len(trees)), lambda model: tree_keeps(model, trees, about)


def walk(tree: Row, kind: str, types: Row, level: int = 0) -> Iterator[tuple[int, str, Row]]:
    """Every vertex with its level and type, parents first, children in the order of the policy's types."""
    yield level, kind, tree
    for key, child in sorted(types[kind]["children"].items(), key=lambda pair: list(types).index(pair[1])):
        for one in tree.get(key, []):
            yield from walk(one, child, types, level + 1)


def kin_in_order(tree: Row, kind: str, about: Row, alike: bool) -> bool:
    """Do siblings stand by what is known of them, and those that look alike by all of it?"""
    for key, child in about["types"][kind]["children"].items():
        below = tree.get(key, [])
        keys = [tree_order(one, about, child)[: 1 + alike] for one in below]
        if keys != sorted(keys) or not all(kin_in_order(one, child, about, alike) for one in below):
            return False
    return True


def tree_order(tree: Row, about: Row, root: str = "") -> tuple[list[Any], list[Any]]:
    """What trees are sorted by: what is known of them, then all of it; vertex after vertex."""
    known, whole, types = [], [], about["types"]
    for level, kind, vertex in walk(tree, root or about["record"]["type"], types):
        told, place = types[kind], (level, list(types).index(kind))
        names = *told["quasi"], told["sensitive"], *told["other"]
        texts = [(vertex.get(name) is None, vertex.get(name) or "") for name in names]
        known.append((*place, texts[: len(told["quasi"])]))
        whole.append((*place, texts))
    return known, whole


def seen(value: str | None, kind: str, about: Row) -> Any:
    """What promises see of a sensitive value: the value, or the bucket that the policy puts it in."""
    found, sensitive = same(value), about["types"][kind]["sensitive"]
    buckets = about.get("attributes", {}).get(f"{kind}.{sensitive}", {}).get("buckets")
    if buckets is None or found is None:
        return "value", found
    unsure(set(buckets) != {"edges"}, "buckets that are not said by their edges")
    edges = [(-1) ** str(edge).startswith("-") * exact(str(edge).lstrip("-")) for edge in buckets["edges"]]
    refuse(not edges[0] <= in_numbers(found) <= edges[-1], "a value is outside all buckets")
    return "value", min(bisect_right(edges, in_numbers(found)), len(edges) - 1)


def laid(vertex: Row, kind: str, about: Row) -> tuple[Any, list[Any]]:
    """A tree without its sensitive values, alike for trees that are alike, and these values in the same order."""
    told = about["types"][kind]
    children = told["children"].items()
    below = [laid(one, child, about) for key, child in children for one in vertex.get(key, [])]
    below.sort(key=lambda part: repr(part[0]))  # what looks alike stays as it is written
    here = "none" if told["sensitive"] is None else seen(vertex.get(told["sensitive"]), kind, about)
    form = kind, tuple(vertex.get(name) for name in told["quasi"]), tuple(part[0] for part in below)
    return form, [here, *(one for part in below for one in part[1])]


def twins(form: Any) -> bool:
    return len(set(form[2])) < len(form[2]) or any(map(twins, form[2]))


def tree_keeps(model: Row, trees: Sequence[Row], about: Row) -> Any:
    """Every tree is one of k that look alike; and, of l, at each vertex no value has a share above 1/l of them."""
    alike = defaultdict(list)
    for tree in trees:
        form, values = laid(tree, about["record"]["type"], about)
        alike[form].append(values)
    least = min(map(len, alike.values()))
    if model["type"] == "document-k-anonymity":
        return least >= model["k"]
    unsure(model["type"] != "document-l-diversity", f"the promise {model['type']}")
    wrong = [form for form, members in alike.items() if not rare(zip(*members, strict=True), model["l"])]
    open_ = least >= model["l"] and any(map(twins, wrong))
    unsure(open_, "trees that may keep it with their children in another order")
    return least >= model["l"] and not wrong


def rare(places: Iterable[Sequence[Any]], l: int) -> bool:
    return all(place[0] == "none" or max(Counter(place).values()) * l <= len(place) for place in places)


IN_TREES = """
documents: record=@record types=%@type attributes=%@field undeclared?=drop doctype?=yes
record: type=t json?=t xml?=t
type: identifier?=*w quasi?=*w sensitive?=t other?=*w children?=%t weight?=f
field: hierarchy?=tree buckets?=@buckets xml_name?=t
buckets: edges=*d labelled?=yes
"""
KINDS["documents"] = partial(of_documents, of_trees), IN_TREES + """
search clustree: mapping=greedy,lsap weights=literal,members sa_weight=f infeasible=literal,skip absorb=b part=n
    step=g ceiling=g
search ctoff: mapping=greedy,lsap weights=literal,members sa_weight=f infeasible=literal,skip absorb=b part=n
promise document-k-anonymity: k=2..; promise document-l-diversity: l=2..
"""  # fmt: skip


# --- halves of documents: trees without sensitive values, and beside them, group by group, these values


def of_halves(policy: Row, name: str, raw: bytes, forms: Any) -> Any:
    """Groups: an id, trees of what is known, and trees of what is sensitive ("t-t") or heaps of it ("v-v")."""
    about, style = policy["documents"], policy["algorithm"]["style"]
    (l,), xml = (model["l"] for model in policy["models"] if "l" in model), name.endswith(".xml")
    parts = ["qi_trees", "sa_trees"] if style == "t-t" else ["aqi_trees", "sa_groups"]
    if xml:
        found = xml_of(name, raw, ["publication"], f' method="{style}" l="{l}"')
        odd = any(one.tag != "group" or one[0].attrib or one[1].attrib for one in found)
        trees = [tree for one in found for half in one if half.tag.endswith("trees") for tree in half]
        refuse(odd or len({tree.tag for tree in trees}) > 1, "groups or trees with other names or words")
        groups = [{**one.attrib, **{half.tag.replace("-", "_"): list(half) for half in one}} for one in found]
    else:
        groups = json_of(name, raw, f'{{"method": "{style}", "l": {l}, "groups": [', "]}")
    refuse(any(list(group) != ["id", *parts] for group in groups), "a group does not have its two halves")
    for part in parts:
        if part.endswith("trees"):
            types = {kind: narrow(told, part) for kind, told in about["types"].items()}
            half, read = {**about, "beyond": Wrong, "types": types}, from_xml if xml else from_json
            for group in groups:
                group[part] = [read(tree, about["record"]["type"], half, forms) for tree in group[part]]
    people = range(sum(len(group[parts[0]]) for group in groups))
    return people, lambda model: half_keeps(model, groups, policy)


def narrow(told: Row, part: str) -> Row:
    """The fields of a type that belong into a half; where values lie in heaps, a vertex names its heap."""
    if part == "sa_trees":
        return {**told, "quasi": [], "other": []}
    return {**told, "sensitive": None, "other": [*told["other"], *(["sag"] if part == "aqi_trees" else [])]}


def half_keeps(model: Row, groups: Sequence[Row], policy: Row) -> bool:
    """Each group is of at least l people with trees of one shape; at no vertex has a value a share above 1/l."""
    unsure(model["type"] != "anatomy-l-diversity", f"the promise {model['type']}")
    about, order, good = policy["documents"], [], True
    types, root = about["types"], about["record"]["type"]
    for number, (name, known, secret) in enumerate(group.values() for group in groups):
        halves = [known, secret] if isinstance(secret, list) and "sa_trees" in groups[0] else [known]
        trees = [[list(walk(tree, root, types)) for tree in half] for half in halves]
        shape = [vertex[:2] for vertex in trees[0][0]]
        odd = any([vertex[:2] for vertex in tree] != shape for half in trees for tree in half)
        odd |= name != f"g{number}"
        refuse(odd, "a group has another name than its number, or trees of different shapes")
        keys = [[tree_order(tree, about) for tree in half] for half in halves]
        check_order(policy, all(half == sorted(half) for half in keys))
        order.append(keys[0])
        if len(halves) == 1:
            places = heaped(number, shape, trees[0], secret, about)
        else:
            fields = [(at, kind, types[kind]["sensitive"]) for at, (_, kind) in enumerate(shape)]
            held = [(kind, [tree[at][2].get(one) for tree in trees[1]]) for at, kind, one in fields if one]
            places = [[seen(value, kind, about) for value in values] for kind, values in held]
            refuse(len(secret) != len(known), "a group has not one value for each person")
        good &= len(known) >= model["l"] and rare(places, model["l"])
    check_order(policy, order == sorted(order))
    return good


def heaped(number: int, shape: Any, trees: Any, secret: Any, about: Row) -> list[list[Any]]:
    """The values of each heap of a group. It is named by group, level and number there, as its vertices name it."""
    heaps = dict(map(heap_of, secret)) if isinstance(secret, list) else secret
    fields = [told["sensitive"] for told in about["types"].values()]
    met, names, found = Counter[int](), [], []
    for level, kind in shape:
        field = about["types"][kind]["sensitive"]
        met[level] += field is not None
        names.append(f"g{number}:G{level}.{met[level]}" if field else None)
        if field:
            heap = heaps[names[-1]]
            counts = [*heap["values"].items(), *((None, heap[n]) for n in heap if n == "nulls")]
            odd = heap["attribute"] != (f"{kind}.{field}" if fields.count(field) > 1 else field)
            odd |= list(heap) not in (["attribute", "values"], ["attribute", "values", "nulls"])
            odd |= list(heap["values"]) != sorted(heap["values"])
            odd |= any(type(count) is not int or count < 1 for _, count in counts)
            refuse(odd, "a heap of values is not written as privet writes")
            many = sum(count for _, count in counts)
            refuse(many != len(trees), "a group has not one value for each person")
            found.append([seen(value, kind, about) for value, count in counts for _ in range(count)])
    odd = any([vertex[2].get("sag") for vertex in tree] != names for tree in trees)
    odd |= [*filter(None, names)] != list(heaps) or len(heaps) < len(secret)
    refuse(odd, "trees of a group name other heaps of values than it has")
    return found


def heap_of(element: Any) -> tuple[str, Row]:
    """A heap of sensitive values in XML, as JSON writes it."""
    odd = element.tag != "sa-group" or list(element.attrib) != ["id", "attribute"]
    odd |= any(one.tag not in {"value", "null"} or list(one.attrib) != ["count"] for one in element)
    odd |= not all(re.fullmatch("[1-9][0-9]*", one.attrib["count"]) for one in element)
    values = {one.text or "": int(one.attrib["count"]) for one in element if one.tag == "value"}
    nulls = {one.tag + "s": int(one.attrib["count"]) for one in element if one.tag == "null"}
    odd |= len(values) + len(nulls) < len(element) or "null" in [one.tag for one in element][:-1]
    odd |= any(text != text.strip() for text in values)
    refuse(odd, "a heap of values is not written as privet writes")
    return element.attrib["id"], {"attribute": element.attrib["attribute"], "values": values, **nulls}


KINDS["documents in halves"] = partial(of_documents, of_halves), IN_TREES + """
search tree-anatomy: style=t-t,v-v parts=m order=assignment,by-subtree-size,document cost=relative,vertices
    absorb_leftovers=b
promise anatomy-l-diversity: l=2..
"""  # fmt: skip


# --- sets


def of_sets(policy: Row, files: dict[str, bytes], data: Row) -> Any:
    """Each record's items and what stands beside them: any m known items match k records; nobody finds a rule."""
    how, name = policy["transactions"], data["file"]
    mark = how["separator"]
    if how["form"] == "baskets" and not mark.isspace():
        text, other = decoded(name, files[name], policy), f"{name} is not written as privet writes"
        lines = cells_of(text, mark, other)
        refuse(any(not bare and not text for line in lines for text, bare in line), "an item without a text")
        found: Any = [([text for text, _ in line if line != [("", True)]], {}) for line in lines]
        order = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line, _ in found]
        check_order(policy, order == sorted(order))
    else:
        unsure(how["form"] != "column" or len(mark) != 1, f"sets as {how['form']}")
        rows = records_of(name, files[name], policy)
        check_order(policy, in_order(rows))
        check_disguises(policy, rows)
        odd = any(not set(row) <= {how["set"]} | published(policy) for row in rows)
        refuse(odd, "the data has other columns than the policy publishes")
        found = [((row[how["set"]] or "").split(mark), row) for row in rows]
    texts = {item for items, _ in found for item in items}
    odd = any(list(items) != sorted(set(items)) or ("" in items and items != [""]) for items, _ in found)
    odd |= any(item != item.strip() for item in texts) or len(set(map(same, texts))) < len(texts)
    refuse(odd, "an item stands twice, out of order, between blanks, or in two spellings")
    quasi = [name for name, about in policy["attributes"].items() if about["role"] == "quasi"]
    sets = [(sorted((same(item) for item in items if item), key=repr), row) for items, row in found]

    def set_keeps(model: Row) -> bool:
        if model["type"] == "km-anonymity":
            alike = matching([([tuple(row[n] for n in quasi)], (items, row)) for items, row in sets], 1, 1)
            groups = (group for people in alike for group in matching(people, 0 if quasi else 1, model["m"]))
            return all(len(group) >= model["k"] for group in groups)
        parts = (model.get(key, ()) for key in ("antecedent", "consequent", "itemset"))
        left, right, whole = (set(map(same, part)) for part in parts)
        both = left | right | whole
        support, before = (sum(some <= set(items) for items, _ in sets) for some in (both, left))
        least = exact(model["support"])
        found = support and support >= (least if least.denominator == 1 else least * len(sets))
        return not (found and ("confidence" not in model or support >= exact(model["confidence"]) * before))

    return range(len(sets)), [set_keeps]


KINDS["transactions"] = of_sets, IN_ROWS + """
transactions column: set=t separator=t support?=n|f confidence?=p hierarchy?=tree
transactions baskets: separator=t support?=n|f confidence?=p hierarchy?=tree
rule: @promise hidden-rule; search by-promise,suppress-items,suppress-items-locally:
search hide-border,hide-items: by=confidence,either,support at_most?=p
search hide-exact: by=confidence,either,support at_most?=p seconds=m
search hide-transactions: at_most?=p; search generalise-items: at_most=p
promise hidden-rule: support=h confidence?=p antecedent?=*w consequent?=*w itemset?=*w
promise km-anonymity: m=m k=m
"""  # fmt: skip


# --- the policy, read as privet writes it

# What stands in a policy, part by part, in this order (with a question mark: perhaps) and of which kind: n is a whole
# number from 0 on, m from 1 on, .. any, 2.. from 2 on, 1..9 to 9; f an exact one in quotes, g above 0, p a share, q above 0, h one or whole; x any number; i
# one of intervals, j above 0, d of edges; b yes or no; t a text, w a name, v a text that is not empty, s a time; "." anything; *n
# several (of w, each once), +n one at least, <n rising, >n falling ones; %n one for each name; @ a part, perhaps by a word in it; else it
# is one of these words. Each kind of data has more of it. privet's tests compare it with what privet reads.
WORDS = """
policy: policy=1 kind=t purpose?=t nulls=value,wildcard order=canonical,kept person?=t rows?=persons across?=yes
    absent?=allowed formulas?=escaped publish_only?=%*t form=@form attributes?=%@attribute:publish
    models?=*@promise:type algorithm=@search:type trajectories?=@trajectories:form
    transactions?=@transactions:form documents?=@documents hide?=*rule
form: format?=csv,tsv,jsonl,json,xml,baskets,parquet,arrow,stata,spss delimiter?=t encoding=t nulls=*t
attribute: role=quasi,sensitive,target,other,identifier hierarchy?=tree values?=*value
attribute hash,pseudonym: role=identifier publish=t; attribute mask: role=identifier publish=t first=n last=n
attribute shift: role=identifier publish=t days=m by?=t
tree: @width|@edges|@grown|@unit|@hierarchy:type; hierarchy auto,flat:
hierarchy dates: levels=<day,month,quarter,year,decade format?=t bottom?=1..9999 step?=week
width: type=intervals width=<j origin?=i bottom?=i top?=i null?=yes raw?=no
edges: type=intervals edges=*<i|<i bottom?=i top?=i null?=yes raw?=no
grown: type=intervals low?=i high?=i step?=j bottom?=i top?=i null?=yes
unit: type=intervals low=i high=i step?=j unit=j null?=yes
hierarchy prefix: keep=>m hide?=*v; hierarchy tree: tree=. repeat?=%m null?=yes
hierarchy sets: tree=. repeat?=%m null?=yes separator?=t empty?=no fan_out?=1..12
value: t|@null; null: null=yes
"""
TEXTS = {
    "t": r"[\s\S]*",
    "v": r"[\s\S]+",
    "w": r"[\s\S]+",
    "s": "[0-9]+ (s|min|h|d)",
    "d": r"-?[0-9]+(\.[0-9]+)?",
}
TEXTS |= {"i": r"-?(0|[1-9][0-9]*)\.[0-9]*[1-9]", "j": r"(0|[1-9][0-9]*)\.[0-9]*[1-9]"}


def policy_of(text: str) -> Row:
    """The policy of a text that says nothing unknown, nothing twice and nothing besides: written again it is the same."""
    policy = tomllib.loads(text)
    unsure(policy.get("policy") != 1, "a policy of another form than 1")
    unsure(kind_of(policy) not in KINDS, f"releases of {kind_of(policy)} like this")
    said: dict[str, str] = {}
    for line in f"{WORDS}{KINDS[kind_of(policy)][1]}".replace("\n    ", " ").replace("; ", "\n").splitlines():
        names, _, words = line.partition(":")
        part, _, ways = names.partition(" ")
        said |= {f"{part} {way}".strip(): words.strip() for way in ways.split(",")}
    others = {"trajectories", "transactions", "documents"} - {policy["kind"]}
    refuse(others & {*policy}, "the policy describes data of another kind")
    made = spelt(said, "@policy", policy)
    made |= {"models": made.pop("models")} if {"hide", "models"} <= set(made) else {}
    refuse(toml(made) != text, "policy.toml holds more than the policy, or is not as privet writes it")
    nulls, mark = policy["form"]["nulls"], policy["form"].get("delimiter", ",")
    odd = len(nulls) > 1 or any(len(one) > 64 or not one.isprintable() for one in nulls)
    odd |= len(mark) != 1 or not mark.isascii() or mark.isalnum()
    refuse(odd, "the policy says to read the data otherwise than as it stands")
    return {"attributes": {}, "models": [], **policy}


def spelt(said: dict[str, str], kind: str, value: Any) -> Any:
    """A part of a policy as privet writes it: its keys are known and in their order, its values of their kinds."""
    for one in said.get(kind, kind).split("|"):
        try:
            if one[0] in "*+<>" and isinstance(value, list):
                refuse(not in_row(one[0], one[1:].split(","), value), "a list that is out of order, or empty")
                return [spelt(said, one[1:], item) for item in value]
            if one[0] in "%@" and isinstance(value, dict):
                words = words_of(said, one, value) if one[0] == "@" else dict.fromkeys(value, one[1:])
                return {name: spelt(said, word, value[name]) for name, word in words.items()}
            if fits(one, value):
                return value
        except Wrong:
            continue
    raise Wrong("the policy says something in another way than privet")


def in_row(way: str, words: Sequence[str], value: Sequence[Any]) -> bool:
    if way in "*+":
        return (words != ["w"] or len({*value}) == len(value)) and (way == "*" or value != [])
    row = [words.index(one) if len(words) > 1 else Fraction(one) for one in value]
    return row == sorted({*row}, reverse=way == ">") != []


def words_of(said: dict[str, str], kind: str, value: Row) -> dict[str, str]:
    """The words of a part that stand in this one, each with its kind."""
    part, _, by = kind[1:].partition(":")
    words = said.get(f"{part} {value.get(by, '')}".strip())
    refuse(words is None and part == "hierarchy", "a hierarchy that no policy has")
    unsure(words is None, f"a policy with a part {part} like this")
    first = f"{by}=t " * (by in value and by != "publish")
    known = dict(word.split("=") for word in f"{first}{words}".split())
    found = {name: known.get(name) or known.get(f"{name}?", "") for name in value}
    more = "" in found.values() or any(value[name] in ([], {}) for name in value if f"{name}?" in known)
    refuse(more, f"a policy that says more of {part}")
    refuse({name for name in known if name[-1] != "?"} - {*value}, f"a policy that says too little of {part}")
    arranges = part in {"width", "edges", "grown", "unit", "hierarchy"}
    refuse(arranges and unfit(value), "a hierarchy in which nothing can be arranged, or spelt otherwise")
    return {name: found[name] for name in (one.rstrip("?") for one in known) if name in value}


def fits(kind: str, value: Any) -> Any:
    text = value if isinstance(value, str) else ""
    if kind in TEXTS:
        whole = kind in "ij" and type(value) is int and (kind == "i" or value > 0)
        return re.fullmatch(TEXTS[kind], text) if text == value else whole
    if ".." in kind:
        low, high = kind.split("..")
        return type(value) is int and int(low or value) <= value <= int(high or value)
    if kind == "pair":
        return isinstance(value, list) and len(value) == 2 and fits("n", value[0]) and value[0] <= value[1]
    if kind in {*"fghpq"}:
        number = exact(text or "0.0")
        most = number <= 1 or kind in "fg" or (kind == "h" and number.denominator == 1)
        return str(number) == text and (number > 0 or kind in "fp") and most
    if kind in {*"nmx"}:
        return type(value) in ({int, float} if kind == "x" else {int}) and value >= (kind == "m")
    if kind in {"b", "yes", "no"}:
        return isinstance(value, bool) and (kind == "b" or value is (kind == "yes"))
    return kind == "." or (type(value) in {int, str} and str(value) in kind.split(","))


def unfit(said: Row) -> Any:
    """Can nothing be arranged in such a hierarchy, or would privet write it otherwise?"""
    if "tree" in said:
        (root, below), *others = said["tree"].items()
        labels, again = tree_of(below)
        texts = {one for one in (root, *labels) if isinstance(one, str)} - {""}
        return others or below != again or len(texts) <= len(labels) or not {*said.get("repeat", ())} <= texts
    day, form = datetime(2023, 11, 28), said.get("format", "%Y-%m-%d")  # noqa: DTZ001
    odd = day.strftime(form) == day.replace(year=2022).strftime(form)
    odd |= datetime.strptime(day.strftime(form), form) != day  # noqa: DTZ007
    width, edges = [*map(Fraction, said.get("width", ()))], said.get("edges", [])
    odd |= any(wide % narrow for narrow, wide in zip(width, width[1:], strict=False))
    ends = [Fraction(said[key]) for key in ("bottom", "low", "top", "high") if key in said]
    odd |= {"low", "bottom"} <= {*said} or {"high", "top"} <= {*said} or ends != sorted({*ends})
    levels = [[*map(Fraction, one)] for one in (edges if edges and isinstance(edges[0], list) else [edges])]
    odd |= any(one[:1] + one[-1:] != levels[0][:1] + levels[0][-1:] for one in levels) or len(levels[0]) == 1
    odd |= any(not {*few} < {*many} for many, few in zip(levels, levels[1:], strict=False))
    odd |= edges != [] and not all(levels[0][0] <= one <= levels[0][-1] for one in ends)
    return odd or len(edges) == 1 or said.get("origin") == 0


def tree_of(below: Any, deep: int = 0) -> tuple[list[str], Any]:
    """Labels below a label, and how privet writes them: lists, or tables, below each; else it is a list."""
    refuse(deep > 101 or not isinstance(below, (dict, list)), "a tree of labels that is none")
    parts = [below] if isinstance(below, dict) else [p if isinstance(p, dict) else {p: []} for p in below]
    found = {label: tree_of(inner, deep + 1) for part in parts for label, inner in part.items()}
    labels = [one for label, (inner, _) in found.items() for one in (label, *inner)]
    if len(labels) == len(found):
        return labels, labels
    table = {label: one for label, (_, one) in found.items()}
    forms = {None if one == [] or dict in map(type, one) else type(one) for one in table.values()}
    listed = [{label: one} if one else label for label, one in table.items()]
    return labels, listed if len(forms) > 1 or None in forms else table


def literal(value: Any, deep: str = "") -> str:
    """A value in TOML."""
    if isinstance(value, dict):
        inner = ", ".join(f"{key_of(key)} = {literal(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        lines = [f"{deep}    {literal(one, deep + '    ')},\n" for one in value]
        return f"[\n{''.join(lines)}{deep}]" if lines else "[]"
    if isinstance(value, str):
        parts = [json.dumps(part, ensure_ascii=False)[1:-1] for part in value.split("\t")]
        return '"{}"'.format("\t".join(parts).replace("\x7f", "\\u007f"))
    return str(value).lower() if isinstance(value, bool) else str(value)


def key_of(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else literal(name)


def toml(table: Row, name: str = "", head: str = "") -> str:
    """A table in TOML: first what takes a line, then tables under their heads; short tables of a list in a line each."""
    lines, below = "", []
    for key, value in table.items():
        full, many = f"{name}.{key_of(key)}".lstrip("."), value if isinstance(value, list) else []
        long = any(len(literal(one)) > 95 or "\n" in literal(one) for one in many)
        if isinstance(value, dict):
            below.append(toml(value, full, f"[{full}]\n"))
        elif long and all(isinstance(one, dict) for one in many):
            below += [toml(one, full, f"[[{full}]]\n") for one in many]
        else:
            lines += f"{key_of(key)} = {literal(value)}\n"
    head = head if lines or not below or head.startswith("[[") else ""
    return "\n".join(filter(None, [head + lines, *below]))


# --- together: all of it

LINKAGE = {"k-anonymity", "lkc-privacy", "alpha-k-anonymity", "confidence-bounding", "maximum-risk"}
RISKS = {"average-risk", "records-at-risk", "sample-uniqueness"}
# Of how it was made, or of others:
UNSHOWN = {"by-construction", "differential-privacy", "k-map", "delta-presence"}
BEYOND = {"personalised-privacy", "pm-privacy", "population-uniqueness", "safe-harbor"}  # as said in docs
NEEDS = {
    "microaggregation": "k-anonymity",
    "safe-lattice": "entropy-l-diversity",
}  # which promise a search serves
NEEDS |= dict.fromkeys(("condensation", "pram", "rank-swap", "sampling"), "by-construction")
NEEDS |= dict.fromkeys(("hide-border", "hide-exact", "hide-items", "hide-transactions"), "hidden-rule")
CLASSWISE = {
    "bucketisation",
    "coincident",
    "incognito",
    "local",
    "mondrian",
}  # which serve promises about classes
PERSONS = " of persons, whom only the steward can count"


def exact(number: Any) -> Fraction:
    text = str(number)
    plain = re.fullmatch(r"[0-9]*\.?[0-9]*([eE][+-]?[0-9]{1,3})?(/[0-9]+)?%?", text)
    refuse(len(text) > 200 or not plain, "a bound that the policy names is not a number that can be told")
    return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)


def asked(model: Row, rows: Sequence[Row]) -> tuple[int, list[tuple[str, Any, Fraction]]]:
    """How many must match; and columns, protected values and the largest shares that they may have."""
    found = []
    sensitive, usual = model.get("sensitive", ()), model.get("c", model.get("alpha"))
    for name in sensitive:
        items = sensitive[name] if isinstance(sensitive, dict) else "every"
        if isinstance(items, dict):
            items = [{"value": value, "at_most": bound} for value, bound in items.items()]
        for item in [{"every": True}] if items == "every" else items:
            item = item if isinstance(item, dict) else {"value": item}
            every = {row[name] for row in rows} if item.get("every") else {written(item.get("value"))}
            found += [(name, v, exact(item.get("at_most", usual))) for v in set(map(same, every))]
    refuse(not all(0 < bound <= 1 for _, _, bound in found), "a share that the policy names is not one")
    if model["type"] != "maximum-risk":
        return model.get("k", 1), found
    return -(-exact(model["at_most"]).denominator // exact(model["at_most"]).numerator), found


def unmet(policy: Row, records: Sequence[Any]) -> int:
    """How many protected values nobody here has: then nothing is shown of them, nor of another spelling."""
    models = [model for model in policy["models"] if model["type"] in LINKAGE]
    values = {(name, value) for model in models for name, value, _ in asked(model, [])[1]}
    return sum(all(same(row[name]) != value for row in records) for name, value in values)


def promises(policy: Row) -> list[Row]:
    """What the data can show. Rules to hide stand in a list of their own, and are promises like others.

    Where persons are promised something, who may have several records and whom the release does not name, what
    follows for records: groups have no fewer records than persons, nor fewer values; shares are others.
    """
    found = []
    for model in policy["models"]:
        kind = model["type"]
        if "person" not in policy or kind in {"distinct-l-diversity", "p-sensitive-k-anonymity"}:
            found += [model] if kind not in UNSHOWN else []
        elif kind == "lkc-privacy":
            found.append({"type": kind, "k": asked(model, [])[0], "l": model["l"]})
        elif kind in LINKAGE and asked(model, [])[0] > 1:
            found.append({"type": "k-anonymity", "k": asked(model, [])[0]})
    return [*found, *({"type": "hidden-rule", **rule} for rule in policy.get("hide", ()))]


def kind_of(policy: Row) -> str:
    """What is judged in one way: of tables and documents there are two kinds, by what the search leaves of them."""
    ways = {"diffgen": " with noise", "noisy-contingency": " with noise", "tree-anatomy": " in halves"}
    return str(policy["kind"] + ways.get(policy.get("algorithm", {}).get("type"), ""))


def judged(policy: Row, files: dict[str, bytes], data: Row) -> tuple[Sequence[Any], list[Any]]:
    """The records, and for each promise whether it holds: True, False, or why nobody can tell here."""
    odd = any(not m.get("sensitive", True) or m.get("p", 0) > m.get("k", 1) for m in policy["models"])
    refuse(odd, "a promise of no attribute, or of more values than records")
    about, search = policy["attributes"].values(), policy["algorithm"]["type"]
    roles = Counter(a["role"] for a in about)
    kinds = {*(m["type"] for m in policy["models"]), *["hidden-rule"] * ("hide" in policy)}
    parts = [m for m in policy["models"] if m["type"] == "lkc-privacy" and m["l"] < roles["quasi"]]
    odd = NEEDS.get(search, search) not in {search, *kinds}
    odd |= search in CLASSWISE and bool(parts or RISKS & kinds)
    refuse(odd, "the policy names a search that does not serve its promises")
    odd = policy["kind"] == "table" and not roles["quasi"]
    odd |= roles["target"] > 1 or any(("hierarchy" in a) != (a["role"] == "quasi") for a in about)
    refuse(odd, "the policy has no quasi-identifier, generalises what is not one, or has two targets")
    records, checks = KINDS[kind_of(policy)][0](policy, files, data)
    refuse(checks and not records, "the release has not one record")
    return records, [told(check, model) for check in checks for model in promises(policy)]


def told(check: Callable[[Row], bool], model: Row) -> bool | str:
    try:
        unsure(model["type"] in BEYOND, f"the promise {model['type']}")
        return check(model)
    except Unknown as unknown:
        return str(unknown)


def verdict(folder: Path, signer: str | None = None) -> tuple[int, list[str]]:
    """0, 1 or 3, as said at the top, and the lines that say why."""
    try:
        files = contents(folder)
        evidence, policy = loads(files["evidence.json"]), policy_of(files["policy.toml"].decode())
        check_files(files, evidence, policy)
        lines = [check_signatures(files, evidence, signer)]
        records, found = judged(policy, files, evidence["data"])
        other = json.loads(dumps(evidence["algorithm"])) != policy["algorithm"]
        refuse(other, "the evidence has another search")
        said, many, empty = evidence["records"], len(records), unmet(policy, records)
        refuse(many != said, f"the evidence speaks of {said} records, the data has {many}")
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
    unshown = [m["type"] for m in policy["models"] if m["type"] in UNSHOWN or "person" in policy]
    lines += [f"{name}{PERSONS * ('person' in policy)}: the release does not show it" for name in unshown]
    lines += [f"protected values that do not occur, of which a promise says nothing: {empty}"] * bool(empty)
    if not found:
        lines.append("not known here: nothing of this release can be counted again")
    shown_to_hold = found and not unshown and all(one is True for one in found)
    return (1 if False in found else 0 if shown_to_hold else 3), lines


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
