"""The checker of one file: it shares no code with privet, and both say the same of releases and forgeries."""

from __future__ import annotations

import ast
import gzip
import importlib.util
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.pairs import policy_of
from tests.forge.forging import changed, evidence, refused, seal

import privet as pv
from privet import equality, verifier

FILE = Path(verifier.__file__).with_name("verify.py")
MODELS = [
    "k-anonymity", "lkc-privacy", "alpha-k-anonymity", "confidence-bounding", "distinct-l-diversity",
    "entropy-l-diversity", "recursive-l-diversity", "p-sensitive-k-anonymity", "t-closeness", "beta-likeness",
    "enhanced-beta-likeness", "delta-disclosure", "maximum-risk", "average-risk", "records-at-risk",
    "sample-uniqueness",
]  # fmt: skip


@cache
def module() -> Any:
    return loaded(FILE)


@cache
def sliced(kind: str) -> Any:
    """The program for releases of one kind."""
    from privet.cli.verifier import of_kind

    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "verify.py")
        path.write_text(of_kind(FILE.read_text(encoding="utf-8"), kind), encoding="utf-8")
        return loaded(path)


def loaded(path: Path) -> Any:
    """The file as a module, which it is not for anybody else."""
    made = importlib.util.spec_from_file_location("verify_alone", path)
    assert made is not None
    assert made.loader is not None
    found = importlib.util.module_from_spec(made)
    made.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def alone() -> Any:
    return module()


def test_it_needs_the_standard_library_only() -> None:
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    names = {
        a.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names
    }
    names |= {str(n.module).split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert names - {"cryptography"} <= set(sys.stdlib_module_names)


LONGEST = {  # lines with something on them: a quarter of an hour has 900 seconds
    "table": 745, "noise": 585, "trajectories": 700, "transactions": 650, "documents": 705, "halves": 730
}  # fmt: skip


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], Path]:
    """Releases that are only read: one by each maker."""
    return cache(lambda maker: some(maker, tmp_path_factory.mktemp("other")))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", LONGEST)
def test_of_one_kind_it_is_read_in_a_quarter_of_an_hour(
    tmp_path: Path, kind: str, others: Callable[[Any], Path]
) -> None:
    """It says of a release of its kind what the whole says, and of others that it does not know them."""
    from tests.forge import every

    from privet.cli import main

    assert main(["verifier", "-o", str(tmp_path / "verify.py"), "--kind", kind]) == 0
    text = (tmp_path / "verify.py").read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line.strip()]) <= LONGEST[kind]
    part = loaded(tmp_path / "verify.py")
    makers = {
        "table": (every.table, every.buckets, every.persons),
        "noise": (every.noisy,),
        "trajectories": (every.paths, every.visits),
        "transactions": (every.sets,),
        "documents": (every.nested,),
        "halves": (every.halves, every.vertices),
    }
    for of, made in makers.items():
        for maker in made if of == kind else made[:1]:
            out = others(maker)
            code, lines = module().verdict(out)
            assert code in {0, 3}
            if of == kind:
                out = shutil.copytree(out, tmp_path / maker.__name__)
                assert part.verdict(out) == (code, lines)
                changed(out, evidence(out)["data"]["file"], lambda text: f"{text}\n")
                assert part.verdict(out)[0] == 1
            else:
                assert part.verdict(out)[0] == 3


def some(maker: Any, place: Path, first: int = 0) -> Path:
    """A release that could be made."""
    for seed in range(first, first + 20):
        with suppress(pv.UnsatisfiableError, pv.UnsupportedError, pv.InputError):
            made: Path = maker(random.Random(seed), place).write(place / "out")
            return made
    raise AssertionError("no release at all")


def tables(count: int, seed: int) -> Iterator[tuple[str, pl.DataFrame]]:
    chance = random.Random(seed)
    for at in range(count):
        rows = chance.randint(8, 30)
        yield (
            MODELS[at % len(MODELS)],
            pl.DataFrame(
                {
                    "age": [str(chance.randint(20, 26)) for _ in range(rows)],
                    "hours": [str(chance.choice([10, 20, 30, 40])) for _ in range(rows)],
                    "ill": [chance.choice("aabbc") for _ in range(rows)],
                }
            ),
        )


def forged(lines: list[str], chance: random.Random) -> list[str]:
    """Other records: a cell of another row, a row less or twice, rows in another order, quotes."""
    head, *rows = lines
    at, other = chance.randrange(len(rows)), chance.randrange(len(rows))
    match chance.randrange(6):
        case 0 | 1 | 2:
            mine, theirs = rows[at].split(","), rows[other].split(",")
            column = chance.randrange(len(mine))
            mine[column] = chance.choice([theirs[column], "zz", ""])
            rows[at] = ",".join(mine)
        case 3:
            del rows[at]
        case 4:
            rows.append(rows[at])
        case 5:
            rows[at], rows[other] = rows[other], rows[at]
    if chance.random() < 0.8:
        rows.sort(key=lambda row: [(not cell, cell) for cell in row.split(",")])
    return [head, *rows]


def compared(alone: Any, folder: Path) -> tuple[int, bool]:
    """What both say; where privet accepts, the other does not refuse, and promises are judged alike."""
    code, lines = alone.verdict(folder)
    accepted = not refused(folder)
    assert not (accepted and code == 1), lines
    try:
        verdicts = pv.verify(folder).verdicts
    except pv.TamperedError:
        assert code != 0, lines
        return code, accepted
    said = [line.rpartition(": ")[2] for line in lines[1:]]
    if verdicts and code in {0, 1} and not lines[0].startswith("WRONG"):
        assert ["BROKEN" if not v.holds else "holds" for _, v in verdicts] == said, lines
    return code, accepted


def many(alone: Any, place: Path, count: int, each: int, seed: int) -> tuple[int, int, int]:
    tried = refusals = broken = 0
    chance = random.Random(seed)
    for at, (name, table) in enumerate(tables(count, seed)):
        try:
            release = pv.publish(table, policy_of([name], "top-down"))
        except pv.UnsatisfiableError:
            continue
        out = release.write(place / f"out{at}")
        assert compared(alone, out) == (0, True), name
        for number in range(each):
            copy = shutil.copytree(out, place / f"forged{at}-{number}")
            lines = forged((copy / "data.csv").read_text().splitlines(), chance)
            (copy / "data.csv").write_text("\n".join(lines) + "\n")
            said = evidence(copy)
            said["records"] = said["measures"]["records"] = len(lines) - 1
            seal(copy, said)
            code, accepted = compared(alone, copy)
            tried, refusals, broken = tried + 1, refusals + (not accepted), broken + (code == 1)
            shutil.rmtree(copy)
        shutil.rmtree(out)
    return tried, refusals, broken


def test_both_say_the_same_of_tables(alone: Any, tmp_path: Path) -> None:
    tried, refusals, broken = many(alone, tmp_path, 6, 4, seed=1)
    assert tried > 15
    assert refusals >= broken > 5


@pytest.mark.slow
def test_both_say_the_same_of_ten_thousand_forgeries(alone: Any, tmp_path: Path) -> None:
    tried, refusals, broken = many(alone, tmp_path, 640, 20, seed=2)
    assert tried > 8000
    assert refusals >= broken > 1000


def test_it_is_written_and_runs_by_itself(tmp_path: Path) -> None:
    from privet.cli import main

    assert main(["verifier", "-o", str(tmp_path / "verify.py")]) == 0
    (_, table), *_ = tables(1, 3)
    out = pv.publish(table, policy_of(["k-anonymity"], "top-down")).write(tmp_path / "out")
    command = [sys.executable, "-I", "-S", str(tmp_path / "verify.py"), str(out)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "k-anonymity: holds" in ran.stdout
    (out / "data.csv").write_text((out / "data.csv").read_text() + "1,1,a\n")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


def test_it_checks_signatures(alone: Any, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    from privet.evidence.signing import PrivateKey

    key = PrivateKey.make("Office")
    (_, table), *_ = tables(1, 3)
    out = pv.publish(table, policy_of(["k-anonymity"], "top-down")).write(tmp_path / "out", sign=key)
    assert alone.verdict(out, key.public)[0] == 0
    assert alone.verdict(out, PrivateKey.make("x").public)[0] == 1
    seal(out, {**evidence(out), "made": "2020-01-01T00:00:00+00:00"})
    assert alone.verdict(out)[0] == 1


SPELT = [
    "7", "7.0", "+7", "70e-1", "7.", ".7e1", "7e0000", "007", "-7", "-0", "0.0", "0e9", ".0",
    "1e400", "10e399",
    "1e99999999", "1e-99999999", "1e999999999999999999", "10e999999999999999998", "1e1000000000000000000",
    "9007199254740993", "9007199254740992.0", "é", "e\u0301", "\u0667", "true", "True", "1", "1_0", "10",
    "", " 7",
    "2024-03-05", "2024-03-05 00:00:00", "2024-03-05T01:00+01:00", "2024-03-05T00:00Z",
    "2024-03-05T00:00:00,000 UTC",
    "2024-03-05T00:00:00.5", "2024-03-05T00:00:00.50", "2024-03-04T23:30-0030", "2024-02-30",
    "0001-01-01T00:00+01",
    "2024-03-05T00:00+24", "2024-03-05T00:00+00:60", "20240305", "nan", "inf", "-inf", "1/2",
]  # fmt: skip


@given(
    st.lists(
        st.sampled_from(SPELT)
        | st.from_regex(r"[+-]?[0-9]{0,3}\.?[0-9]{0,3}(e[+-]?[0-9]{1,2})?", fullmatch=True),
        min_size=2,
        max_size=2,
    )
)
def test_both_find_the_same_values_equal(pair: list[str]) -> None:
    same = module().same
    assert (same(pair[0]) == same(pair[1])) == equality.equal(*pair)


def test_both_find_the_same_of_all_spellings_equal(alone: Any) -> None:
    for one in [None, *SPELT]:
        for other in [None, *SPELT]:
            assert (alone.same(one) == alone.same(other)) == equality.equal(one, other), (one, other)


POLICY = """
policy = 1
[attributes]
sex = {{ role = "quasi", hierarchy = {{ type = "flat" }} }}
s = {{ role = "sensitive" }}
[[models]]
{model}
[algorithm]
type = "{algorithm}"
"""
DISTINCT = 'type = "distinct-l-diversity"\nl = 2\nsensitive = ["s"]'


ORDER = 'order = "canonical"\n'  # after which a policy names the column of persons


def small(place: Path, model: str = DISTINCT, algorithm: str = "top-down", head: str = "") -> Path:
    table = pl.DataFrame({"sex": ["F", "F", "M", "M"], "s": ["44", "45", "44", "45"]})
    policy = pv.Policy.loads(head + POLICY.format(model=model, algorithm=algorithm))
    return pv.publish(table, policy).write(place / "out")


@pytest.mark.parametrize(
    ("one", "other"),
    [("45", "45.0"), ("45", "4.5e1"), ("e\u0301", "é"), ("2024-03-05", "2024-03-05 00:00:00")],
)
@pytest.mark.parametrize("algorithm", ["top-down", "bucketisation"])
def test_spellings_of_one_value_are_not_two(
    alone: Any, tmp_path: Path, one: str, other: str, algorithm: str
) -> None:
    out = small(tmp_path, algorithm=algorithm)
    assert alone.verdict(out)[0] == 0
    name = "buckets.csv" if algorithm == "bucketisation" else "data.csv"
    text = (out / name).read_text().replace("44", "{0}").replace("45", "{1}").format(one, other)
    head, *rows = text.splitlines()
    (out / name).write_text("\n".join([head, *sorted(rows, key=lambda row: row.split(","))]) + "\n")
    seal(out)
    assert alone.verdict(out) == (1, ["unsigned: nobody vouches for it", "distinct-l-diversity: BROKEN"])


def test_a_protected_value_is_found_in_every_spelling(alone: Any, tmp_path: Path) -> None:
    out = small(
        tmp_path, 'type = "confidence-bounding"\nsensitive = { s = [{ value = "45", at_most = "1/2" }] }'
    )
    assert alone.verdict(out)[0] == 0
    changed(out, "data.csv", lambda text: text.replace("F,44", "F,4.5e1"))
    assert alone.verdict(out)[1][-1] == "confidence-bounding: BROKEN"


def test_buckets_are_the_policy_s_not_the_evidence_s(alone: Any, tmp_path: Path) -> None:
    out = small(tmp_path, algorithm="bucketisation")
    assert alone.verdict(out)[0] == 0
    policy = (out / "policy.toml").read_text()
    head, end = policy.split("[algorithm]\n")
    other = 'type = "top-down"\nsplits = "best-valid"\ntries = 1\n'
    (out / "policy.toml").write_text(f"{head}[algorithm]\n{other}")
    seal(out)
    assert alone.verdict(out)[0] == 1
    assert "algorithm of the policy" in alone.verdict(out)[1][0]
    (out / "policy.toml").write_text(f'{head}[[models]]\ntype = "k-anonymity"\nk = 2\n\n[algorithm]\n{end}')
    seal(out)
    assert "as it is" in alone.verdict(out)[1][0], "every record can be found in its bucket"


@pytest.mark.parametrize("count", ["+1", "01", "1.0", "1_0", "0", "-1", "", "\u0661"])
def test_counts_in_buckets_are_plain_whole_numbers(alone: Any, tmp_path: Path, count: str) -> None:
    out = small(tmp_path, algorithm="bucketisation")
    changed(out, "buckets.csv", lambda text: text.replace(",1\n", f",{count}\n", 1))
    assert alone.verdict(out) == (1, ["WRONG: a count of records is not a plain whole number from 1 on"])


@pytest.mark.parametrize("c", ['"1e99999999"', '"1e-999999999"', '"1e1_000_000_000"', '"1/0"', '"x"', '"-1"'])
def test_bounds_are_numbers_that_can_be_told(alone: Any, tmp_path: Path, c: str) -> None:
    out = small(tmp_path)
    forged = f'type = "recursive-l-diversity"\nc = {c}\nl = 2'
    changed(out, "policy.toml", lambda text: text.replace('type = "distinct-l-diversity"\nl = 2', forged))
    code, lines = alone.verdict(out)
    assert (code, len(lines)) == (1, 1)


@pytest.mark.parametrize("said", ["l = 0", "l = true", "l = 2.0", 'l = "2"', "l = -1"])
def test_a_promise_of_nothing_is_wrong(alone: Any, tmp_path: Path, said: str) -> None:
    out = small(tmp_path)
    changed(out, "policy.toml", lambda text: text.replace("l = 2", said))
    assert alone.verdict(out)[0] == 1


def test_a_huge_l_is_decided_at_once(alone: Any, tmp_path: Path) -> None:
    out = small(tmp_path, DISTINCT.replace("distinct", "entropy"))
    assert alone.verdict(out)[0] == 0
    changed(out, "policy.toml", lambda text: text.replace("l = 2", f"l = 9{'0' * 4000}"))
    assert alone.verdict(out)[1][-1] == "entropy-l-diversity: BROKEN"


def test_what_stands_deep_ends_in_one_line(alone: Any, tmp_path: Path) -> None:
    out = small(tmp_path)
    said, policy = (out / "evidence.json").read_text(), (out / "policy.toml").read_text()
    for deep in ("[" * 100_000, f'{said.rstrip()[:-1]}, "z": {"[" * 50_000}{"]" * 50_000}}}'):
        (out / "evidence.json").write_text(deep)
        code, lines = alone.verdict(out)
        assert code in {1, 3}
        assert len(lines) == 1
    (out / "evidence.json").write_text(said)
    (out / "policy.toml").write_text(f"z = {'[' * 5000}{']' * 5000}\n{policy}")
    seal(out, report=False)
    code, lines = alone.verdict(out)
    assert code in {1, 3}
    assert len(lines) == 1


def test_what_it_does_not_know_is_not_wrong(alone: Any, tmp_path: Path) -> None:
    table = pl.DataFrame({"sex": ["F", "F", "M", "M"], "s": ["44", "45", "44", "45"]})
    policy = pv.Policy.loads(POLICY.format(model=DISTINCT, algorithm="top-down"))
    table.write_parquet(tmp_path / "table.parquet")
    out = pv.publish(tmp_path / "table.parquet", policy).write(tmp_path / "parquet")
    assert not refused(out)
    assert alone.verdict(out) == (3, ["not known here: data as parquet; ask for csv"])
    sets = pl.DataFrame({"it": ["7;b", "7;b", "7", "b", "c", "c;7"]})
    hide = """
policy = 1
kind = "transactions"
[transactions]
form = "column"
set = "it"
separator = ";"
[[hide]]
support = "2"
confidence = "1/2"
antecedent = ["7"]
consequent = ["b"]
[algorithm]
type = "by-promise"
"""
    out = pv.publish(sets, pv.Policy.loads(hide)).write(tmp_path / "sets")
    assert not refused(out)
    assert alone.verdict(out) == (0, ["unsigned: nobody vouches for it", "hidden-rule: holds"])


@pytest.mark.parametrize("kind", ["table", "paths", "sets", "json", "xml", "lines"])
def test_a_release_of_nobody_keeps_nothing(alone: Any, tmp_path: Path, kind: str) -> None:
    from tests.forge import every

    out = some(every.KINDS[kind], tmp_path)
    data = out / evidence(out)["data"]["file"]
    first, *_, last = data.read_text(encoding="utf-8").splitlines()
    trees = {"xml": [first, "<students>", last], "json": ["[", "]"]}
    data.write_text("".join(f"{line}\n" for line in trees.get(kind, [first] * (kind != "lines"))))
    seal(out, {**evidence(out), "records": 0}, report=False)
    assert refused(out)
    assert alone.verdict(out)[0] == 1


def test_a_policy_of_another_form_is_not_guessed_at(alone: Any, tmp_path: Path) -> None:
    out = small(tmp_path)
    changed(out, "policy.toml", lambda text: text.replace("policy = 1", "policy = 2"))
    assert refused(out)
    assert alone.verdict(out) == (3, ["not known here: a policy of another form than 1"])


def test_what_no_data_shows_is_not_said_to_hold(alone: Any, tmp_path: Path) -> None:
    """Whose records they are, who is not in the table: with the rest in order it abstains."""
    out = small(tmp_path)
    assert alone.verdict(out)[0] == 0
    changed(out, "policy.toml", lambda text: text.replace(ORDER, f'{ORDER}person = "id"\n'))
    assert alone.verdict(out)[0] == 3


@pytest.mark.parametrize("output", ["json.gz", "xml.gz", "csv.gz"])
def test_packed_releases_are_judged_like_others(alone: Any, tmp_path: Path, output: str) -> None:
    from tests.forge import every

    if output == "csv.gz":
        table = pl.DataFrame({"sex": ["F", "F", "M", "M"], "s": ["44", "45", "44", "45"]})
        release = pv.publish(
            table, pv.Policy.loads(POLICY.format(model=DISTINCT, algorithm="top-down")), output=output
        )
    else:
        release = every._documents(output)(random.Random(2), tmp_path)
    out = release.write(tmp_path / "out")
    assert not refused(out)
    assert alone.verdict(out)[0] == 0


FORGED = {  # what the checker of one file once accepted: kind, notation, an old text, and a new one
    "a record in a line of its own": (
        "nested",
        "xml",
        r"<student( year=\S+)>\n.*<gpa>.*\n",
        r"<student\1>\n",
    ),
    "an attribute around records": ("nested", "xml", "<students>", '<students x="1">'),
    "another name": ("nested", "xml", "<student (.*)/student>", r"<pupil \1/pupil>"),
    "blanks in an element": ("nested", "xml", "<gpa>", "<gpa> "),
    "a number as a text": ("nested", "json", r'"gpa": (\d)', r'"gpa": "\1"'),
    "fields in another order": ("nested", "json", r'("year": \d+), ("gpa": \d)', r"\2, \1"),
    "a key beside the others": ("nested", "json", r'("gpa": \d)', r'\1, "name": "Eve"'),
    "an empty list": ("nested", "json", r'("gpa": \d)\}', r'\1, "courses": []}'),
    "a blank in a line": ("lines", "jsonl", ",", ", "),
    "another number": ("lines", "jsonl", r'"ill":(\d)([,}])', r'"ill":\1.0\2'),
    "one person's rows apart": ("visits", "csv", r"\n(1,.*)\n(1,.*)\n((?:.*\n)+)$", r"\n\1\n\3\2\n"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("what", FORGED)
def test_how_something_is_written_is_asked_as_privet_asks_it(alone: Any, tmp_path: Path, what: str) -> None:
    from tests.forge import every

    kind, notation, old, new = FORGED[what]
    for seed in range(40):
        place = tmp_path / str(seed)
        place.mkdir()
        out = some(every.KINDS[kind], place, seed)
        data = out / evidence(out)["data"]["file"]
        text = data.read_text(encoding="utf-8")
        forged = re.sub(old, new, text, count=1, flags=re.DOTALL if "pupil" in new else 0)
        if data.suffix != f".{notation}" or forged == text:
            continue  # of another notation, or with nothing of that kind
        assert alone.verdict(out)[0] in {0, 3}
        data.write_text(forged, encoding="utf-8")
        seal(out)
        assert refused(out)
        assert alone.verdict(out)[0] == 1
        return
    pytest.fail("no release has it")


PERSONS = [
    "distinct-l-diversity: BROKEN",
    "distinct-l-diversity of persons, whom only the steward can count: the release does not show it",
]


@pytest.mark.parametrize("head", ['rows = "persons"\n', 'absent = "allowed"\n'])
def test_how_the_source_was_met_changes_nothing(alone: Any, tmp_path: Path, head: str) -> None:
    out = small(tmp_path, head=head)
    assert head.strip() in (out / "policy.toml").read_text()
    assert alone.verdict(out)[0] == 0
    changed(out, "data.csv", lambda text: text.replace("F,45", "F,44"))
    assert alone.verdict(out)[0] == 1
    changed(out, "policy.toml", lambda text: text.replace(ORDER, f'{ORDER}person = "id"\n'))
    assert alone.verdict(out) == (1, ["unsigned: nobody vouches for it", *PERSONS]), (
        "values are fewer in any case"
    )


def test_a_protected_value_is_found_in_every_spelling_of_paths(alone: Any, tmp_path: Path) -> None:
    policy = """
policy = 1
kind = "trajectories"
[trajectories]
form = "column"
path = "p"
[attributes]
s = { role = "sensitive" }
[[models]]
type = "confidence-bounding"
sensitive = { s = [{ value = "45", at_most = "1/2" }] }
[algorithm]
type = "lightest"
"""
    table = pl.DataFrame({"p": ["a1 b2"] * 4, "s": ["44", "44", "45", "45"]})
    out = pv.publish(table, pv.Policy.loads(policy)).write(tmp_path / "out")
    assert alone.verdict(out)[0] == 0
    changed(out, "data.csv", lambda text: text.replace(",44", ",4.5e1", 1))
    assert alone.verdict(out)[1][-1] == "confidence-bounding: BROKEN"


def test_nothing_is_carried_past_it(alone: Any, tmp_path: Path) -> None:
    """In a second packed part with a comment, or under a key that stands twice."""
    text = b"sex,s\n"
    assert alone.unpacked("data.csv.gz", gzip.compress(text, mtime=0)) == text
    with pytest.raises(alone.Wrong):
        alone.unpacked("data.csv.gz", gzip.compress(b"", mtime=0) + gzip.compress(text, mtime=0))
    out = small(tmp_path)
    said = (out / "evidence.json").read_text()
    (out / "evidence.json").write_text(said.replace('"records": 4', '"records": 9, "records": 4', 1))
    assert alone.verdict(out) == (1, ["WRONG: a key stands twice"])


def test_parts_of_a_cluster_are_not_known_and_not_wrong(alone: Any, tmp_path: Path) -> None:
    out = small(tmp_path)
    (out / "data.csv").unlink()
    (out / "data.csv").mkdir()
    assert alone.verdict(out) == (3, ["not known here: data in several parts, as a cluster writes it"])
    (out / "more").mkdir()
    (out / "data.csv").rmdir()
    assert alone.verdict(out)[0] == 1


HALVES = """
policy = 1
kind = "documents"
[documents.record]
type = "student"
xml = "/students/student"
[documents.types.student]
quasi = ["year"]
sensitive = "gpa"
[[models]]
type = "anatomy-l-diversity"
l = 2
[algorithm]
type = "tree-anatomy"
style = "{}"
"""
WRONG = {
    "t-t": [
        ('gpa="2"', 'gpa="1.0"', "BROKEN"),
        ('"gpa": "2"', '"gpa": "1.0"', "BROKEN"),
        ('<student year="1990"/>', '<student year="1990" gpa="2"/>', "half"),
        ('{"year": "1990"}', '{"year": "1990", "gpa": "2"}', "half"),
        ('{"gpa": "1"}, {"gpa": "2"}', '{"gpa": "2"}, {"gpa": "1"}', "order"),
    ],
    "v-v": [
        ('<value count="1">2<', '<value count="1">1.0<', "BROKEN"),
        ('<value count="1">2<', '<value count="1">2\u00a0<', "written as privet"),
        ('"2": 1', '"1.0": 1', "BROKEN"),
        ('"2": 1', '"2": 2', "one value for each person"),
        ('sag="g0:G0.1"', 'sag="g1:G0.1"', "name other heaps"),
        ('"sag": "g0:G0.1"', '"sag": "Eve"', "name other heaps"),
    ],
}


@pytest.mark.parametrize("output", ["json", "xml"])
@pytest.mark.parametrize("style", WRONG)
def test_halves_are_judged_by_both(alone: Any, tmp_path: Path, style: str, output: str) -> None:
    students = [{"year": str(1990 + at // 4), "gpa": "12"[at % 2]} for at in range(8)]
    out = pv.publish(students, pv.Policy.loads(HALVES.format(style)), output=output).write(tmp_path / "out")
    assert alone.verdict(out) == (0, ["unsigned: nobody vouches for it", "anatomy-l-diversity: holds"])
    data, tried = f"data.{output}", 0
    before = (out / data).read_text(encoding="utf-8")
    named = ('id="g0"', 'id="Eve"', "number"), ('"id": "g0"', '"id": "Eve"', "number")
    for old, new, why in (*WRONG[style], *named):
        if old not in before:
            continue  # of the other notation
        changed(out, data, lambda text, a=old, b=new: text.replace(a, b, 1))  # type: ignore[misc]
        code, lines = alone.verdict(out)
        assert (code, why in " ".join(lines)) == (1, True), (old, lines)
        assert refused(out), old
        (out / data).write_text(before, encoding="utf-8")
        tried += 1
    assert tried >= 3


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (", k = 2", "", 1),  # k-anonymity of nobody knows how many
        (", k = 2", ", k = 2, l = 1", 1),  # which would ask about one column at a time
        ("k = 2", 'k = "2"', 1),
        ("k = 2", "k = 0", 1),
    ],
)
def test_a_promise_that_is_half_said_is_not_guessed_at(
    alone: Any, tmp_path: Path, old: str, new: str, code: int
) -> None:
    out = small(tmp_path, 'type = "k-anonymity"\nk = 2')
    assert alone.verdict(out)[0] == 0
    changed(out, "policy.toml", lambda text: text.replace(old, new, 1))
    assert alone.verdict(out)[0] == code
    assert refused(out)


def test_a_quote_that_opens_nothing_is_no_part_of_an_item(alone: Any, tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("a,b\n" * 4 + "b,c\n" * 2 + "\n", encoding="utf-8")
    text = 'policy = 1\nkind = "transactions"\n[transactions]\nform = "baskets"\n'
    hide = '[[hide]]\nantecedent = ["a"]\nconsequent = ["b"]\nsupport = 2\nconfidence = "1/3"\n'
    out = pv.publish(tmp_path / "raw.csv", pv.Policy.loads(text + hide)).write(tmp_path / "out")
    name = evidence(out)["data"]["file"]
    assert alone.verdict(out)[0] == 0
    before = (out / name).read_text(encoding="utf-8")
    for old, new in (("c\n", 'c"\n'), ("c\n", '"c"\n'), ("\n", '\n""\n')):
        changed(out, name, lambda text, a=old, b=new: text.replace(a, b, 1))  # type: ignore[misc]
        assert alone.verdict(out)[0] == 1
        assert refused(out)
        (out / name).write_text(before, encoding="utf-8")


def test_a_search_that_is_set_to_what_nobody_knows_is_not_called_right(tmp_path: Path) -> None:
    """No promise follows from how a search was set; a policy that cannot be read is still none."""
    table = pl.DataFrame({"age": [30, 30, 31, 31] * 3, "hours": [10] * 12, "ill": ["a", "b"] * 6})
    out = pv.publish(table, policy_of(["k-anonymity"], "top-down")).write(tmp_path / "out")
    honest = (out / "policy.toml").read_text(encoding="utf-8")
    line = re.search(r"^score = .*$", honest, re.MULTILINE) or re.search(r'type = "top-down"', honest)
    assert line is not None
    assert module().verdict(out)[0] == 0
    for new in ('score = "zz"', 'score = "static"', "score = -1", 'score = "7/5"', "score = { a = 1 }"):
        said = evidence(out)
        said["algorithm"]["score"] = "zz"
        text = honest.replace(line[0], new if line[0].startswith("score") else f"{line[0]}, {new}", 1)
        (out / "policy.toml").write_text(text, encoding="utf-8")
        seal(out, said)
        assert refused(out), new
        assert module().verdict(out)[0] in {1, 3}, new
