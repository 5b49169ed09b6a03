"""The filter: any CSV or JSON lines, as the csv module reads it, in constant memory, or nothing at all."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.collect import naive

from privet.collect import cells, stream
from privet.collect.channels import Unary
from privet.collect.observe import read
from privet.collect.stream import perturb_csv, perturb_json, true_codes
from privet.errors import InputError

PLAN = naive.plan_of(
    age={"type": "number", "low": 0, "high": 100, "mechanism": "laplace", "epsilon": 4},
    job={
        "type": "category",
        "values": ["a", 'b "x"', "c,d"],
        "mechanism": "k-randomised-response",
        "epsilon": 2,
    },
    tag={"type": "category", "values": ["u", "v", "w"], "mechanism": "unary", "epsilon": 2},
)
OPEN = naive.plan_of(
    age={"type": "number", "low": 0, "high": 100, "step": "0.5", "mechanism": "as-is"},
    job={"type": "category", "values": ["a", 'b "x"', "c,d"], "mechanism": "as-is"},
)


def through(plan: Any, text: str | bytes, **said: Any) -> str:
    out = io.BytesIO()
    perturb_csv(plan, io.BytesIO(text.encode() if isinstance(text, str) else text), out, **said)
    return out.getvalue().decode()


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


records = st.lists(
    st.tuples(st.integers(0, 200).map(lambda n: f"{n / 2:g}"), st.sampled_from(["a", 'b "x"', "c,d"])),
    max_size=40,
)


@given(records, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 40), st.booleans())
def test_what_is_as_it_is_comes_out_as_the_csv_module_reads_it(
    rows: list[tuple[str, str]], ending: str, quoted: bool, block: int, last: bool
) -> None:
    """Whatever the size of a block, the quotes and the line endings: no record is lost, moved or joined."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=ending, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    writer.writerow(["name", "job", "age"])
    writer.writerows([(f"n\n{at}" if quoted else f"n{at}", job, age) for at, (age, job) in enumerate(rows)])
    given_ = text.getvalue() if last else text.getvalue().removesuffix(ending)
    before = cells.BLOCK
    cells.BLOCK = block
    try:
        found = rows_of(through(OPEN, given_))
    finally:
        cells.BLOCK = before
    assert found == [["age", "job"], *(list(row) for row in rows)]


def test_columns_that_the_plan_does_not_name_are_left_out() -> None:
    out = io.BytesIO()
    done = perturb_csv(OPEN, io.BytesIO(b"ssn,age,job,note\n1,5,a,x\n"), out)
    assert out.getvalue() == b"age,job\n5,a\n"
    assert (done.records, done.dropped) == (1, ("ssn", "note"))


def _given(part: bytes, size: int) -> bytes:
    assert len(part) == size
    return part


def test_records_are_put_together_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few letters at a time, and however unlike their texts are in length."""
    rows = [(at, ["a", 'b "x"', "c,d"][at % 3], "uvw"[at % 3]) for at in range(40)]
    text = io.StringIO()
    csv.writer(text).writerows([("age", "job", "tag"), *rows])
    whole = through(PLAN, text.getvalue(), take=random.Random(2).randbytes)
    monkeypatch.setattr(stream, "LETTERS", 40)
    assert through(PLAN, text.getvalue(), take=random.Random(2).randbytes) == whole
    assert len(rows_of(whole)) == 41


def test_one_by_one_and_all_at_once_draw_the_same() -> None:
    """The same random bytes, block by block: the stream is the client many times over."""
    chance = random.Random(3)
    rows = [
        (chance.randrange(101), chance.choice(["a", 'b "x"', "c,d"]), chance.choice("uvw")) for _ in range(50)
    ]
    text = io.StringIO()
    csv.writer(text).writerows([("age", "job", "tag"), *rows])
    sent = rows_of(through(PLAN, text.getvalue(), take=random.Random(9).randbytes))[1:]
    same = random.Random(9).randbytes  # a column of a block after another
    drawn: dict[str, list[str]] = {}
    for at, (name, column) in enumerate(PLAN.columns.items()):
        codes = [column.code(str(row[at])) for row in rows]
        if isinstance(column.channel, Unary):
            tops, against = same(len(rows) * 3), naive.limits(column.channel, codes)
            left = io.BytesIO(same(3 * sum(a == b >> 24 for a, b in zip(tops, against, strict=True))))
            words = [
                top << 24 | (int.from_bytes(left.read(3), "big") if top == limit >> 24 else 0)
                for top, limit in zip(tops, against, strict=True)
            ]
            whole, size = struct.pack(f"<{len(words)}I", *words), 4 * 3
        else:
            whole, size = same(8 * len(rows)), 8
        parts = [whole[size * n : size * n + size] for n in range(len(rows))]
        drawn[name] = [
            column.output_text(column.channel.draw(code, partial(_given, part)))
            for code, part in zip(codes, parts, strict=True)
        ]
    assert sent == [list(row) for row in zip(*drawn.values(), strict=True)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "there is no header"),
        (b"age,age,job\n", "names a column twice"),
        (b"age\n5\n", "has no column job, which the plan asks for"),
        (b"age,job\n5,a\n5\n", "record 2: has 1 cells, and the header has 2"),
        (b"age,job\n5\na\n", "record 1: has 1 cells, and the header has 2"),
        (b"age,job\n5,a\n5,a,b\n", "record 2: has 3 cells, and the header has 2"),
        (b"age,job\n5,a,5\na\n", "record 1: has 3 cells"),  # as many separators as two whole records have
        (b"age,job\n5,zqxjkv\n", "record 1: job: is not one of the 3 values of the plan"),
        (b"age,job\n5,a\n48271,a\n", "record 2: age: is not between 0 and 100"),
        (b"age,job\n5,a\nzqxjkv,a\n", "record 2: age: is not a number"),
        (b"age,job\nnan,a\n", "record 1: age: is not a number"),
        (b"age,job\ninf,a\n", "record 1: age: is not a number"),
        (b"age,job\n1_0,a\n", "record 1: age: is not a number"),
        (b"age,job\n\xd9\xa3,a\n", "record 1: age: is not a number"),
        (b"age,job\n,a\n", "record 1: age: no answer, and the plan does not say what stands for none"),
        (b'age,job\n5,"a\n', "record 1: this cannot be read as CSV"),
        (b'age,job\n5,"a"b\n', "record 1: this cannot be read as CSV"),
        (b"age,job\n5,\xff\n", "this is not UTF-8"),
        (b'age,job\n5,"' + b"x" * 200_000 + b'"\n', "record 1: this cannot be read as CSV"),
    ],
)
def test_bad_records_are_named_by_number_and_never_by_what_they_say(text: bytes, said: str) -> None:
    with pytest.raises(InputError) as caught:
        through(OPEN, text)
    assert said in str(caught.value)
    assert "zqxjkv" not in str(caught.value)
    assert "48271" not in str(caught.value)


def test_a_line_without_an_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "LONGEST_LINE", 1 << 16)
    monkeypatch.setattr(cells, "BLOCK", 1 << 12)
    with pytest.raises(InputError, match="is longer than"):
        through(OPEN, b"age,job\n" + b"5" * (1 << 17))
    with pytest.raises(InputError, match="longer than"):
        through(OPEN, b'age,job\n5,"' + b"5" * (1 << 18))


def test_blank_lines_and_marks_at_the_beginning() -> None:
    assert through(OPEN, "\ufeffage,job\n\n5,a\n\n\n6,a\n") == "age,job\n5,a\n6,a\n"
    single = naive.plan_of(age={"type": "number", "low": 0, "high": 9, "mechanism": "as-is", "missing": 0})
    assert through(single, "age\n5\n\n6\n") == "age\n5\n0\n6\n"  # somebody who did not answer
    assert through(OPEN, "age,job\n") == "age,job\n"
    assert through(OPEN, "age;job\n5;a\n", delimiter=";") == "age;job\n5;a\n"


def test_numbers_between_two_steps_go_to_the_nearer() -> None:
    for text, code in (("5.2", 10), ("5.3", 11), ("99.9", 200), ("0.24", 0), ("1e1", 20)):
        assert true_codes(OPEN, io.BytesIO(f"age,job\n{text},a\n".encode()))["age"].tolist() == [code]
        assert OPEN.columns["age"].code(text) == code


def test_json_lines_are_what_a_client_sends() -> None:
    lines = b'{"age": 5, "job": "a", "name": "x"}\n\n{"age": "6.5", "job": "c,d"}\n'
    out = io.BytesIO()
    done = perturb_json(OPEN, io.BytesIO(lines), out)
    assert (done.records, done.dropped) == (2, ("name",))
    sent = [json.loads(line) for line in out.getvalue().splitlines()]
    assert sent == [
        {"plan": OPEN.digest, "answers": {"age": "5", "job": "a"}},
        {"plan": OPEN.digest, "answers": {"age": "6.5", "job": "c,d"}},
    ]
    for bad, said in (
        (b"{", "record 1: this is not JSON"),
        (b"[1]", "record 1: is not an object"),
        (b'{"age": 5, "job": "zqxjkv"}', "record 1: job: is not one of"),
        (b"[" * 100_000, "record 1: this is not JSON"),
        (b"\xff", "record 1: this is not JSON"),
    ):
        with pytest.raises(InputError, match=said):
            perturb_json(OPEN, io.BytesIO(bad), io.BytesIO())


# What arrived.


def test_what_was_perturbed_is_read_back_as_it_was_drawn() -> None:
    chance = random.Random(4)
    plan = naive.plan_of(**{name: naive.random_column(chance, name) for name in naive.MECHANISMS})
    rows = [
        [column.input_text(chance.randrange(column.channel.inputs)) for column in plan.columns.values()]
        for _ in range(300)
    ]
    text = io.StringIO()
    csv.writer(text).writerows([list(plan.columns), *rows])
    sent = through(plan, text.getvalue())
    answers = read(plan, io.BytesIO(sent.encode()))
    assert answers.records == 300
    for at, (name, column) in enumerate(plan.columns.items()):
        wanted = [column.output(row[at]) for row in rows_of(sent)[1:]]
        found = answers.columns[name]
        if found.ndim == 2:
            found = (found.astype(int) << np.arange(found.shape[1])).sum(axis=1)
        assert found.tolist() == wanted
    codes = true_codes(plan, io.BytesIO(text.getvalue().encode()))
    assert [codes[name].tolist() for name in plan.columns] == [
        [column.code(row[at]) for row in rows] for at, column in enumerate(plan.columns.values())
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"plan": "other", "answers": {}}', "record 1: was made with another plan than this one"),
        (b'{"answers": {}}', "record 1: was made with another plan"),
        (b"[]", 'record 1: is an object with "plan" and "answers"'),
        (b'{"plan": "P", "answers": {"age": "5"}}', "record 1: does not answer every question"),
        (b'{"plan": "P", "answers": {"age": "5.25", "job": "a"}}', "age: is not an answer that this plan"),
        (b'{"plan": "P", "answers": {"age": {}, "job": "a"}}', "age: is not an answer that this plan"),
        (b'{"plan": "P", "answers": {"age": "5", "job": ["a"]}}', "job: is not an answer that this plan"),
    ],
)
def test_answers_that_no_client_of_this_plan_sends_stop_everything(line: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(OPEN, io.BytesIO(line.replace(b'"P"', f'"{OPEN.digest}"'.encode())), lines=True)


def test_numbers_that_arrive_are_written_as_clients_write_them() -> None:
    answers = read(OPEN, io.BytesIO(b"job,age\na,5\na,5.5\na,6\n"), ["age"])
    assert answers.columns["age"].tolist() == [10, 11, 12]
    for other in (b"5.0", b"5.50", b"+6", b"6e0", b" 6 "):
        with pytest.raises(InputError, match="record 2: age: is not an answer that this plan's mechanism"):
            read(OPEN, io.BytesIO(b"job,age\na,5\na," + other + b"\n"), ["age"])


@pytest.mark.slow
def test_memory_stays_where_it_is_while_a_pipe_goes_on(tmp_path: Path) -> None:
    plan = tmp_path / "collect.json"
    plan.write_text(json.dumps(PLAN.form()))
    code = (
        "import resource, sys, io; from privet.collect.plan import Plan; "
        "from privet.collect.stream import perturb_csv; "
        f"perturb_csv(Plan.load({str(plan)!r}), sys.stdin.buffer, io.FileIO('/dev/null', 'w')); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for records_ in (300_000, 3_000_000):
        with subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ
        ) as running:
            assert running.stdin is not None
            assert running.stdout is not None
            running.stdin.write(b"age,job,tag\n")
            for _ in range(records_ // 10_000):
                running.stdin.write(b"50,a,v\n" * 10_000)
            running.stdin.close()
            peaks.append(int(running.stdout.read()))
    assert peaks[1] < 1.2 * peaks[0]
