"""Workbooks, and the files of Stata, SPSS and SAS: what offices and statisticians have.

Each needs a library that is an extra. A workbook's cells become text, so that a column whose type changes
midway is one column; the values of a labelled variable are its labels, as people read them, and the labels of
the variables themselves travel with the form, so that a release of the same kind has them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from privet.core import Form
from privet.engines import periods
from privet.engines.text import listed, naming
from privet.errors import InputError, MissingExtraError

MIDNIGHT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} 00:00:00$"


def read(path: Path, form: Form) -> pl.DataFrame:
    """The table in the file."""
    return _workbook(path, form) if form.format == "xlsx" else _statistics(path, str(form.format))


def labels(path: Path, format: str) -> dict[str, str]:  # noqa: A002 - the form's own word
    """What the variables of a file are called in full, by their names."""
    _, meta = _opened(path, format, metadataonly=True)
    return {name: label for name, label in meta.column_names_to_labels.items() if label}


def write(frame: pl.DataFrame, target: Path, form: Form) -> None:
    """Write for Stata or SPSS, with the labels of the variables that are there."""
    pyreadstat = _pyreadstat(target)
    known = {name: label for name, label in form.labels.items() if name in frame.columns}
    texts = frame.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
    # Neither format tells an empty text from none: both are read as missing.
    texts = texts.with_columns(pl.col(pl.String).fill_null(""))
    writer = pyreadstat.write_dta if form.format == "stata" else pyreadstat.write_sav
    try:
        writer(texts, str(target), column_labels=known or None)
    except (pyreadstat.PyreadstatError, ValueError, TypeError, OverflowError):
        raise InputError(
            f"{target.name}: this cannot be written for {form.format}, perhaps for the name of a column; "
            "say --to csv"
        ) from None


def first_fields(path: Path, form: Form) -> list[str]:
    """What the header of a workbook says, field by field."""
    return [field or "" for field in _header_row(_cells(path, form))[1]]


def _workbook(path: Path, form: Form) -> pl.DataFrame:
    return _tidy(_headed(_cells(path, form), header=form.header))


def _cells(path: Path, form: Form) -> pl.DataFrame:
    """The cells, all as text, of the only sheet that holds anything, or of the one that the form says."""
    try:
        import fastexcel  # noqa: PLC0415 - an extra, loaded when a workbook is read
    except ImportError:
        raise MissingExtraError(f"{path}: a workbook", "excel") from None
    unreadable = InputError(f"{path}: this cannot be read as a workbook")
    try:
        book = fastexcel.read_excel(path.read_bytes())
        names: list[str] = book.sheet_names
    except (fastexcel.FastExcelError, OSError):
        raise unreadable from None
    if form.sheet is not None and form.sheet not in names:
        raise InputError(f"{path}: no sheet {form.sheet!r}; there are {listed(names)}")
    found: dict[str, pl.DataFrame] = {}
    for name in [form.sheet] if form.sheet is not None else names:
        try:
            cells = book.load_sheet(name, header_row=None, dtypes="string").to_polars()
        except (fastexcel.FastExcelError, pl.exceptions.PolarsError):
            continue  # a sheet of nothing, or of drawings
        filled = cells.filter(~pl.all_horizontal(pl.all().is_null())) if cells.width else cells
        if filled.height:
            found[name] = filled
    if not found:
        raise InputError(
            f"{path}: the sheets are empty" if form.sheet is None else f"{path}: the sheet is empty"
        )
    if len(found) > 1:
        raise InputError(
            f"{path}: several sheets hold something: {listed(list(found))}; say which with --sheet"
        )
    (cells,) = found.values()
    return cells.select(name for name in cells.columns if cells[name].null_count() < cells.height)


def _headed(cells: pl.DataFrame, *, header: bool) -> pl.DataFrame:
    """The rows below the header."""
    if not header:
        cells.columns = naming([""] * cells.width, said=False)
        return cells
    at, fields = _header_row(cells)
    below = cells.slice(at + 1)
    below.columns = naming([field or "" for field in fields])
    return below


def _header_row(cells: pl.DataFrame) -> tuple[int, tuple[str | None, ...]]:
    """Where the header stands, which may be below a title: it is the first row that is about full."""
    full = cells.select(pl.sum_horizontal(pl.all().is_not_null())).to_series().to_list()
    at = next(row for row, many in enumerate(full) if many * 2 > cells.width)
    return at, cells.row(at)


def _tidy(frame: pl.DataFrame) -> pl.DataFrame:
    """A column of days is one of days: workbooks give each of them a midnight."""
    days = [
        column.name
        for column in frame.iter_columns()
        if column.null_count() < len(column) and column.drop_nulls().str.contains(MIDNIGHT).all()
    ]
    return frame.with_columns(pl.col(days).str.slice(0, 10))


def _statistics(path: Path, format: str) -> pl.DataFrame:  # noqa: A002 - the form's own word
    frame, meta = _opened(path, format, output_format="polars")
    known, kinds = meta.variable_value_labels, meta.original_variable_types
    merged: list[str] = []
    made = [_labelled(column, known.get(column.name, {}), merged) for column in frame.iter_columns()]
    if merged:
        raise InputError(
            *(
                f"{path}: column {name!r}: a code is labelled with what another code is, which has no label: "
                "the two would be one value; give that code a label, or change the other's"
                for name in merged
            )
        )
    return pl.DataFrame([periods.said(one, str(kinds.get(one.name, "")), format) for one in made])


def _labelled(column: pl.Series, said: Mapping[Any, str], merged: list[str]) -> pl.Series:
    """Values as people read them: whole numbers without a point, labels for codes, nothing as null.

    `merged` gets the name of a column in which that would make one value of two.
    """
    if column.dtype.is_float():
        column = column.fill_nan(None)
        there = column.drop_nulls()
        if there.is_finite().all() and (there == there.round()).all() and (there.abs() < 2**53).all():
            column = column.cast(pl.Int64)
    if said:
        texts = {_text(code, pointed=column.dtype.is_float()): label for code, label in said.items() if label}
        codes = column.cast(pl.String)
        met = set(codes.unique().drop_nulls())
        if not {texts[code] for code in met & texts.keys()}.isdisjoint(met - texts.keys()):
            merged.append(column.name)
        return codes.replace(texts)
    if column.dtype == pl.String:
        return column.replace("", None)
    return column.cast(pl.String) if column.dtype == pl.Object else column


def _text(code: object, *, pointed: bool) -> str:
    """A code as it stands in the column; among fractions a whole number has a point, too."""
    if isinstance(code, (int, float)) and pointed:
        return str(float(code))
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def _opened(path: Path, format: str, **how: Any) -> tuple[Any, Any]:  # noqa: A002 - the form's own word
    pyreadstat = _pyreadstat(path)
    sas = pyreadstat.read_xport if path.suffix.lower() == ".xpt" else pyreadstat.read_sas7bdat
    reader = {"stata": pyreadstat.read_dta, "spss": pyreadstat.read_sav}.get(format, sas)
    try:
        frame, meta = reader(str(path), **how)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError):
        raise InputError(f"{path}: this cannot be read as a file of {format}") from None
    return frame, meta


def _pyreadstat(path: Path) -> Any:
    try:
        import pyreadstat  # noqa: PLC0415 - an extra, loaded when such a file is read
    except ImportError:
        raise MissingExtraError(f"{path}: a file of Stata, SPSS or SAS", "statistics") from None
    return pyreadstat
