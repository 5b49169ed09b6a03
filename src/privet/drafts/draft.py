"""A first policy for a table that nobody has described yet: look at every column once, and guess."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl

from privet.core import Form, Progress, Role, silent
from privet.domain import Value
from privet.drafts import files
from privet.drafts.column import FEW_RECORDS, LOOKED_AT
from privet.drafts.found import Ground
from privet.drafts.guess import Guess, guess
from privet.drafts.text import Draft
from privet.drafts.together import settled
from privet.drafts.whose import says_whose
from privet.engines import packed, text
from privet.engines.plain_text import as_said
from privet.engines.trajectories.column import PathColumn
from privet.equality import key
from privet.errors import InputError
from privet.hierarchy.dates import Dates, formats_of
from privet.registry import find
from privet.roads import with_known_options
from privet.roads.stations import in_frame, settle
from privet.roads.trajectories.guess import clue
from privet.roads.trajectories.guess import guess as find_paths

__all__ = ["Draft", "draft"]


@dataclass(frozen=True)
class _Table:
    """What was read: the different values of each column, and the frame to count in."""

    frame: pl.DataFrame
    values: Mapping[str, Sequence[Value]]

    def present(self, name: str, form: Form) -> list[str]:
        """The different values of a column as its form reads them, missing ones left out."""
        nulls = {None, *form.nulls, *form.missing.get(name, ())}
        known = [value for value in self.values[name] if value is not None and value not in nulls]
        if name not in form.numbers:
            return known
        read = (as_said(value, name, form) for value in known)
        return list(dict.fromkeys(value for value in read if value is not None))

    def counted(self, name: str, values: Sequence[str]) -> dict[str, int]:
        """How many records have each of some values of a column."""
        column = self.frame.get_column(name).cast(pl.String)
        return dict(column.filter(column.is_in(values)).value_counts().iter_rows())

    def blanks(self, name: str, form: Form) -> int:
        """How many records have no value of a column."""
        column = self.frame.get_column(name)
        tokens = [*(token for token in form.nulls if token), *form.missing.get(name, ())]
        return column.null_count() + (int(column.cast(pl.String).is_in(tokens).sum()) if tokens else 0)


@with_known_options
def draft(
    source: Any,
    form: Form | None = None,
    *,
    guess_encoding: bool = True,
    guess_nulls: bool = True,
    progress: Progress = silent,
    paths: bool | None = False,
) -> Draft:
    """Look at every column of a table once, and guess; with `paths`, also where trajectories are; with None,
    only if the table clearly has them.
    """
    form = form or Form()
    progress("read", 0)
    path = Path(source) if isinstance(source, (str, Path)) and not text.is_url(source) else None
    if path is not None:
        form = _settled(path, form, guess_encoding=guess_encoding)
    form, table = _read(source, form, progress)
    fields = _fields(path, form)
    own = files.own_values(fields, table.values.values()) if fields else []
    repeated = _header_again(fields, table.frame) if own else 0
    if len(own) * 3 >= max(1, len(list(filter(None, fields)))) and not repeated:
        form, table = _read(source, replace(form, header=False), progress)
        fields, own = [], []
    names, records = list(table.values), table.frame.height
    doubts = list(_doubts(fields, names, form, guessed=guess_encoding and path is not None))
    if repeated:
        doubts.append(f"the header stands again among the records ({repeated:,} times): remove it there")
    elif own:
        doubts.append(
            f"{text.listed(sorted(set(own)))}: the name stands among the values too; if the first line is a "
            "record, say form.header = false"
        )
    offers: list[files.Offer] = []
    if guess_nulls:
        form = _with_tokens(form, table)
        form, offers = _with_missing(form, table)
    form, read_as = _with_notations(form, table)
    doubts += [*read_as, *_about_tokens(form, table), *_totals(table)]
    guesses = settled(
        [
            guess(
                name,
                table.present(name, form),
                records - empty,
                blanks=empty,
                label=form.labels.get(name, ""),
                counted=partial(table.counted, name),
            )
            for name, empty in ((name, table.blanks(name, form)) for name in names)
        ]
    )
    place = path.name if path is not None else "a database" if text.is_url(source) else "a table"
    speaks = clue(table.values, records)
    found = find_paths(table.values) if paths or speaks else None
    if found and (unreadable := _unreadable(found, table, form)):
        doubts += unreadable if paths else [f"{one}: so this is drafted as a table" for one in unreadable]
        found, speaks = (found if paths else None), None
    found = None if paths is False else found
    guesses = _beside_paths(guesses, table, found)
    doubts += [*_dates_in_doubt(table, form), *_path_doubts(speaks, found), *_alike(guesses, table, form)]
    doubts += [
        f"{text.listed([o.column])}: {json.dumps(o.token)} may mean missing ({o.records:,} records); "
        "see form.missing"
        for o in offers
    ]
    if sampled := [name for name, found_in in table.values.items() if len(found_in) > LOOKED_AT]:
        doubts.append(
            f"{text.listed(sampled)}: a sample of {LOOKED_AT:,} of their different values was looked at"
        )
    if records < FEW_RECORDS:
        many = "is 1 record" if records == 1 else f"are {records} records"
        doubts.append(f"there {many} only: few to hide in")
    again = () if found else tuple(_repeated(guesses, table, form))
    persons = tuple(
        one.name
        for one in guesses
        if one.name in again and says_whose(one, len(table.values[one.name]), records)
    )
    told = Draft(place, records, form, guesses, tuple(doubts), found, tuple(offers), again, persons)
    return replace(told, counts=_counting(source, told.form))


def _alike(guesses: Sequence[Guess], table: _Table, form: Form) -> Iterator[str]:
    """Columns in which one thing is written in several ways, which are different values (`equality`)."""
    mixed = [
        one.name
        for one in guesses
        if one.role in {Role.QUASI, Role.SENSITIVE, Role.TARGET}
        and len(known := table.present(one.name, form)) <= LOOKED_AT
        and len({" ".join(value.split()).casefold() for value in known}) < len(known)
    ]
    if mixed:
        yield (
            f"{text.listed(mixed)}: values that differ only in capitals or blanks count as different, and "
            "what is promised of one is not promised of the other; write them alike"
        )


def _repeated(guesses: Sequence[Guess], table: _Table, form: Form) -> Iterator[str]:
    """What seems to name people, and does not stand once in every row."""
    for one in guesses:
        if one.role is Role.IDENTIFIER:
            there = table.frame.height - table.blanks(one.name, form)
            if len(set(map(key, table.present(one.name, form)))) < there:
                yield one.name


def _counting(source: Any, form: Form) -> Callable[..., list[tuple[Value, int]]]:
    """How many records, or persons, have each value of a column.

    A column of a text is read by itself, so that not all of a large one is held; of a workbook or a file of
    statistics nothing can be read without the rest, and it is read once.
    """
    engine = find("engines", "embedded")()

    @cache
    def whole() -> pl.DataFrame:
        frame: pl.DataFrame = in_frame(engine, engine.read(source, form))
        return frame

    def counted(name: str, person: str | None = None) -> list[tuple[Value, int]]:
        names = [name] if person in {None, name} else [name, person]
        packed_ = form.format in text.PACKED
        table = whole().select(names) if packed_ else in_frame(engine, engine.read(source, form, names))
        column = (table if person is None else table.unique()).get_column(name).cast(pl.String)
        return list(column.value_counts(sort=True).sort("count", name, descending=[True, False]).iter_rows())

    return counted


def _settled(path: Path, form: Form, *, guess_encoding: bool) -> Form:
    if not path.is_file():
        return settle(path, form)  # which says what is wrong
    kind = settle(path, replace(form, delimiter=form.delimiter or ",")).format
    if kind in text.TEXTS:
        return files.settled_text(path, form, guess_encoding=guess_encoding)
    return settle(path, form)


def _read(source: Any, form: Form, progress: Progress) -> tuple[Form, _Table]:
    engine = find("engines", "embedded")()
    table = engine.read(source, form)
    written = form.format in text.TEXTS or form.format == "xlsx"
    if written and not form.trim and files.padded(in_frame(engine, table)):
        form = replace(form, trim=True)
        table = engine.read(source, form)
    names = engine.columns(table)
    values: dict[str, Sequence[Value]] = {}
    for done, name in enumerate(names):
        progress("tally", done, len(names))
        values[name] = engine.distinct(table, name)
    return form, _Table(in_frame(engine, table), values)


def _with_tokens(form: Form, table: _Table) -> Form:
    if form.format not in text.TEXTS:
        return form
    tokens = [token for token in files.sure_tokens(table.values) if token not in form.nulls]
    return replace(form, nulls=(*form.nulls, *tokens))


def _with_missing(form: Form, table: _Table) -> tuple[Form, list[files.Offer]]:
    """Tokens of single columns: those that leave only numbers or dates are taken, the others offered."""
    taken: dict[str, tuple[str, ...]] = dict(form.missing)
    offers: list[files.Offer] = []
    for name in table.values:
        present = table.present(name, form)
        if len(present) > LOOKED_AT:
            continue
        sure, offered = files.missing_in(present)
        if form.format not in text.TEXTS:
            sure = [*sure, *(token for token in files.sure_tokens({name: present}) if token not in sure)]
        if "" in table.values[name]:  # a quoted nothing is a text of no letters; it says as little as a blank
            sure = [*sure, ""]
        if sure:
            taken[name] = (*taken.get(name, ()), *sure)
        offers += files.counted(table.frame, name, [token for token in offered if token not in sure])
    return replace(form, missing=taken), offers


def _with_notations(form: Form, table: _Table) -> tuple[Form, list[str]]:
    """Numbers in other notations than 1234.5, by column."""
    looked = {
        name: table.present(name, form)[:LOOKED_AT] for name in table.values if name not in form.numbers
    }
    first = {name: files.notation_of(values) for name, values in looked.items()}
    comma = any(found is not None and found.endswith(",5") for found, _ in first.values())
    found = {name: files.notation_of(values, comma=comma) for name, values in looked.items()}
    numbers = {name: said for name, (said, _) in found.items() if said is not None}
    told = [
        f"{text.listed([name])}: its numbers are read as {numbers[name]}, though another reading fits as well"
        for name, (_, doubtful) in found.items()
        if doubtful
    ]
    if plain := [name for name in numbers if not found[name][1]]:
        told.append(f"{text.listed(plain)}: numbers in another notation leave as 1234.5 (form.numbers)")
    return replace(form, numbers={**form.numbers, **numbers}), told


def _fields(path: Path | None, form: Form) -> list[str]:
    """What stands in the line that is taken for a header, field by field."""
    if path is None or not form.header:
        return []
    if form.format in text.TEXTS:
        return text.first_fields(path, form)
    return packed.first_fields(path, form) if form.format == "xlsx" else []


def _header_again(fields: Sequence[str], frame: pl.DataFrame) -> int:
    """How often the whole header is a record, as in files that were put together from others.

    A record may come again too where there is no header, but then its values also come by themselves.
    """
    same = [
        pl.Series(frame[name] == field.strip()) for name, field in zip(frame.columns, fields, strict=True)
    ]
    whole = int(pl.select(pl.all_horizontal(same)).to_series().sum())
    return whole if all(int(one.sum()) == whole for one in same) and len(same) > 1 else 0


def _doubts(fields: Sequence[str], names: Sequence[str], form: Form, *, guessed: bool) -> Iterator[str]:
    if not form.header:
        yield "the first line looks like a record; columns are numbered (form.header = true: it is a header)"
    elif fields:
        yield from _renamed(fields)
    if form.trim:
        yield "blanks around values are not read as part of them (form.trim)"
    if len(names) == 1:
        yield "there is one column only; is the delimiter right?"
    if guessed and form.format in text.TEXTS and not text.is_utf8(form.encoding):
        yield f"the file is not UTF-8; {form.encoding} is a guess, and wrong letters mean another: --encoding"


def _totals(table: _Table) -> Iterator[str]:
    """Under many a printed table stands what it adds up to, which is nobody."""
    for last in table.frame.tail(1).iter_rows(named=True):
        said = ((name, value) for name, value in last.items() if value not in {None, ""})
        name, first = next(said, ("", None))
        if not isinstance(first, str) or not files.TOTAL.fullmatch(first.strip()):
            continue
        if (table.frame.get_column(name) == first).sum() == 1:  # a value like others is none
            place = text.listed([name])
            yield f"the last row seems to be a total ({place}); it counts as a record: remove it"


def _renamed(fields: Sequence[str]) -> Iterator[str]:
    """Columns that are called otherwise here than in the file."""
    stripped = [field.strip() for field in fields]
    if nameless := [at for at, field in enumerate(stripped, start=1) if not field]:
        numbers = ", ".join(map(str, nameless[: text.FEW]))
        yield f"columns without a name are called by their number: {numbers} (column_{nameless[0]})"
    doubled = sorted({field for field in stripped if field and stripped.count(field) > 1})
    if doubled:
        yield f"a name stands more than once: {text.listed(doubled)}; the next is called {doubled[0]}_2"


def _about_tokens(form: Form, table: _Table) -> Iterator[str]:
    texts = table.frame.select(pl.col(pl.String))
    for token in form.nulls[1:]:
        many = sum(int((column == token).sum()) for column in texts.iter_columns())
        yield f"form.nulls: {json.dumps(token)} is read as missing ({many:,} times); right?"
    for name, tokens in form.missing.items():
        said = ", ".join(map(json.dumps, tokens))
        many = table.blanks(name, replace(form, nulls=(), missing={name: tokens}))
        yield f"{text.listed([name])}: {said} is read as missing ({many:,} records without a value); right?"


def _dates_in_doubt(table: _Table, form: Form) -> Iterator[str]:
    both = []
    for name in table.values:
        present = [value for value in table.values[name][:1000] if value and value not in form.nulls]
        if present and Dates().day(present[0]) is None and len(formats_of(present)) > 1:
            both.append(name)
    if both:
        yield f"{text.listed(both)}: dates are read day first; month first fits as well (hierarchy: format)"


def _beside_paths(
    guesses: tuple[Guess, ...], table: _Table, found: Mapping[str, str] | None
) -> tuple[Guess, ...]:
    """What differs between the visits of one person is nothing that is known of the person."""
    if not found or "person" not in found:
        return guesses
    beside = [one.name for one in guesses if one.name not in found.values()]
    several = table.frame.group_by(found["person"]).agg(pl.col(beside).n_unique() > 1).select(beside)
    differs = {name for name in beside if several.get_column(name).any()}
    reason = "it differs between the visits of one person, so it cannot stand beside a path"
    return tuple(
        replace(one, role=Role.IDENTIFIER, reason=reason, ground=Ground.RULE) if one.name in differs else one
        for one in guesses
    )


def _unreadable(found: Mapping[str, str], table: _Table, form: Form) -> tuple[str, ...]:
    """What stands in the way of reading a path in every row, as publishing would."""
    if found["form"] != "column":
        return ()
    name = found["path"]
    tokens = [*form.nulls, *form.missing.get(name, ())]
    column = table.frame.get_column(name).cast(pl.String)
    try:
        PathColumn.read(pl.DataFrame({name: column.set(column.is_in(tokens), None)}), path=name)
    except InputError as error:
        return error.complaints
    return ()


def _path_doubts(speaks: str | None, found: Mapping[str, str] | None) -> Iterator[str]:
    if found is None and speaks:
        yield f"this looks like trajectories: {speaks}; `privet init --kind trajectories` drafts that"
    if found is not None and not found:
        yield (
            "no column looks like a path, and none like person, place and time: fill in [trajectories], "
            "or leave --kind out"
        )
