"""The command line with paths: the commands of tables, and `privet sequences`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privet.samples import SAMPLES

Run = Callable[..., Any]


@pytest.fixture
def trips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with trips and a policy, which is the working folder too."""
    sample = SAMPLES["trips-metro"]
    sample.generate(2000, 1).write_csv(tmp_path / "trips.csv")
    (tmp_path / "trips.toml").write_text(sample.policy(k=10, l=2), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("trips")
def test_the_whole_road(privet: Run) -> None:
    assert privet("check", "trips.csv", "trips.toml").code == 1
    made = privet("publish", "trips.csv", "trips.toml", "-o", "out", "--explain")
    assert made.code == 0, made.err
    assert "routes of at least 20 records" in made.out
    assert "round 1: " in made.out
    assert "candidate 1" in made.out
    assert privet("verify", "out").code == 0
    assert "places only" in privet("risk", "trips.csv", "trips.toml").out
    assert "how the search went" in privet("compare", "trips.csv", "out").out
    assert "what a smaller l would cost" in privet("explain", "out").out
    assert privet("publish", "trips.csv", "trips.toml", "--like", "out", "-o", "again").code == 2


@pytest.mark.usefixtures("trips")
def test_every_answer_is_one_document(privet: Run) -> None:
    published = privet("publish", "trips.csv", "trips.toml", "-o", "out", "--explain", "--json").answer
    assert published["explained"]["kind"] == "trajectories"
    assert published["promises"][0]["about"] == "paths"
    for command in (
        ("check", "trips.csv", "trips.toml"),
        ("risk", "trips.csv", "trips.toml"),
        ("compare", "trips.csv", "out"),
        ("explain", "out"),
        ("verify", "out"),
        ("sequences", "out"),
        ("sequences", "trips.csv", "trips.toml"),
    ):
        assert isinstance(privet(*command, "--json").answer, dict), command
    compared = privet("compare", "trips.csv", "out", "--json").answer
    assert compared["patterns"]["surviving"] == published["measures"]["patterns"]["surviving"]


@pytest.mark.usefixtures("trips")
def test_sequences_of_raw_data_are_counted_and_not_named(privet: Run, terminal: Run) -> None:
    quiet = privet("sequences", "trips.csv", "trips.toml", "--support", "5%")
    assert "at least 100 of 2,000 records" in quiet.out
    assert "@" not in quiet.out
    answer = privet("sequences", "trips.csv", "trips.toml", "--support", "100", "--json").answer
    assert "listed" not in answer
    assert sum(answer["by_length"].values()) == answer["sequences"]
    assert privet("sequences", "trips.csv", "trips.toml", "--show-values").code == 2  # no terminal
    assert "@" in terminal("sequences", "trips.csv", "trips.toml", "--show-values").out
    wrote = privet("sequences", "trips.csv", "trips.toml", "--support", "100", "-o", "routes.csv")
    assert "it holds raw values" in wrote.out
    with Path("routes.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == answer["sequences"]
    assert all(int(row["support"]) >= 100 for row in rows)


@pytest.mark.usefixtures("trips")
def test_sequences_of_a_release_are_shown(privet: Run) -> None:
    privet("publish", "trips.csv", "trips.toml", "-o", "out")
    answer = privet("sequences", "out", "--json").answer
    evidence = json.loads(Path("out/evidence.json").read_text("utf-8"))
    assert answer["sequences"] == evidence["paths"]["frequent"]["sequences"]
    assert answer["listed"][0]["support"] == evidence["paths"]["frequent"]["listed"][0]["support"]


@pytest.mark.usefixtures("trips")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("trips.csv",), "POLICY: says where in the data the paths are"),
        (("trips.csv", "trips.toml", "--support", "0"), "--support: support: is a whole number"),
        (("trips.csv", "trips.toml", "--support", "x"), "--support: is an exact number"),
        (("nowhere.csv", "trips.toml"), "no such file"),
    ],
)
def test_sequences_refuses_what_it_cannot_do(privet: Run, arguments: tuple[str, ...], said: str) -> None:
    ran = privet("sequences", *arguments)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.usefixtures("trips")
@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("k = 10", "k = 100000", 1, "the largest k that can is 2000"),
        ('support = "1/100"', "support = 0", 2, "support: is a whole number of records from 1 on"),
        ('path = "path"', 'path = "way"', 2, "way"),
        ('form = "column"', 'form = "visits"', 2, "person is missing"),
    ],
)
def test_nothing_is_written_when_something_is_wrong(
    privet: Run, old: str, new: str, code: int, said: str
) -> None:
    text = Path("trips.toml").read_text("utf-8")
    assert old in text
    Path("trips.toml").write_text(text.replace(old, new, 1), "utf-8")
    ran = privet("publish", "trips.csv", "trips.toml", "-o", "out")
    assert ran.code == code
    assert said in ran.err
    assert not Path("out").exists()
    assert not Path("out.private").exists()


def test_samples_bring_policies_that_work(
    privet: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("trips-city", "trips-metro"):
        args = ("--rows", "3000", "--policy", f"{name}.toml")
        assert privet("sample", name, "-o", f"{name}.parquet", *args).code == 0
        assert privet("publish", f"{name}.parquet", f"{name}.toml", "-o", name).code == 0
        assert privet("verify", name).code == 0


@pytest.mark.usefixtures("few")
def test_a_draft_says_where_the_paths_are_and_decides_nothing(privet: Run) -> None:
    assert privet("init", "trips.csv", "--kind", "trajectories", "-o", "draft.toml").code == 0
    text = Path("draft.toml").read_text("utf-8")
    assert 'form = "column"\npath = "path"' in text
    assert "@" not in text
    refused = privet("check", "trips.csv", "draft.toml")
    assert refused.code == 2
    assert "attributes.card: the role is still undecided" in refused.err
    Path("visits.csv").write_text("tag,reader,time,ill\nt,a,1,flu\nt,b,2,flu\n", "utf-8")
    answer = privet("init", "visits.csv", "--kind", "trajectories", "-o", "v.toml", "--json").answer
    assert answer["trajectories"] == {"form": "visits", "person": "tag", "place": "reader", "time": "time"}


DRAFTED = {  # what speaks for paths of people, and what only looks like it
    "person,way,ill\n1,a1 b2,flu\n2,a1 c3,flu\n3,b2,cold\n": 'column "way" has places and times',
    "person,way,ill\n1,<a@08:30 -> b@09:30>,flu\n2,<a@08:30>,x\n": 'column "way" has places and times',
    "tag,reader,time\n1,a,1\n1,b,2\n2,a,1\n2,c,3\n": 'columns "tag", "reader", "time" say who was where',
    "tag,lat,lon,time\n1,1,1,08:00\n1,2,2,09:00\n": 'columns "tag", "time", "lat", "lon" say who',
    "id,ward,date\n1,a,2024-05-01\n2,b,2024-05-01\n": None,  # a table: each person has one row
    "tag,place,time\n1,a,soon\n1,b,late\n2,a,soon\n2,b,late\n": None,  # times that are none
    "person,codes\n1,E11 C3\n2,B2 A1\n": None,  # codes of diseases do not rise
}


@pytest.mark.parametrize("data", DRAFTED)
def test_a_draft_of_a_table_says_that_it_looks_like_paths(
    privet: Run, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(data, "utf-8")
    ran, said = privet("init", "data.csv", "-o", "draft.toml"), DRAFTED[data]
    assert ran.code == 0
    for text in (ran.err, Path("draft.toml").read_text("utf-8")):
        assert ("--kind trajectories" in text) == (said is not None)
        assert said is None or f"this looks like trajectories: {said}" in text


@pytest.fixture
def few(trips: Path) -> None:
    """What a draft says of the columns it says after a few hundred rows."""
    path = trips / "trips.csv"
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:300]), "utf-8")


@pytest.mark.usefixtures("few")
def test_columns_of_the_path_have_no_role(privet: Run) -> None:
    ran = privet("init", "trips.csv", "--kind", "trajectories", "-o", "draft.toml")
    assert "path?" in ran.out
    assert "long texts" not in ran.out
    assert "looks like" not in ran.err
    answer = privet("init", "trips.csv", "--kind", "trajectories", "-o", "d2.toml", "--json").answer
    (path,) = (column for column in answer["columns"] if column["name"] == "path")
    assert path.keys() == {"name", "guess", "reason"}
    assert "how many visits of a person" in Path("draft.toml").read_text("utf-8")


def test_a_draft_says_what_it_cannot_guess(
    privet: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gps.csv").write_text("tag,lat,lon,time\n1,1,1,08:00\n1,2,2,09:00\n", "utf-8")
    assert privet("init", "gps.csv", "--kind", "trajectories", "-o", "gps.toml").code == 0
    assert "# slot =" in Path("gps.toml").read_text("utf-8")
    Path("other.csv").write_text("age,sex\n1,f\n2,m\n", "utf-8")
    ran = privet("init", "other.csv", "--kind", "trajectories", "-o", "other.toml")
    assert "no column looks like a path" in ran.err


@pytest.mark.usefixtures("trips")
def test_the_next_step_after_a_check_is_about_points(privet: Run) -> None:
    ran = privet("check", "trips.csv", "trips.toml")
    assert ran.code == 1
    assert "removes points until every promise holds" in ran.out


COLUMN = 'form = "column"\npath = "path"'
VISITS = 'form = "visits"\nperson = "who"\nplace = "where"\ntime = "when"'
POINTS = 'form = "points"\nperson = "who"\nlat = "lat"\nlon = "lon"\ntime = "when"\nslot = "1 h"\ngrid = 500'
ALIKE = "write all as numbers, or all as dates and times such as 2024-05-01T08:30"
AT = "2024-05-01T08:00"
BAD = {  # where the paths are, the data without its header's last column, and what is said about it
    "backwards": (
        COLUMN,
        "path\na1 b2\na2 b1",
        "path: times that run backwards in 1 of 2 rows, first in row 2",
    ),
    "twice": (COLUMN, "path\na1 a1", "path: the same visit twice in 1 of 1 rows, first in row 1; keep one"),
    "two places": (COLUMN, "path\na1 b1", "path: two places at one time in 1 of 1 rows"),
    "no path": (COLUMN, "path\na1 b2\n", "path: no path in 1 of 2 rows, first in row 2; leave them out"),
    "brackets": (COLUMN, "path\n<>", "path: no path in 1 of 1 rows"),
    "half": (COLUMN, "path\n<a1 b2\n<a1>", "path: half a pair of brackets in 1 of 2 rows, first in row 1"),
    "no time": (COLUMN, "path\na1 b", "path: unreadable points in 1 of 1 rows, first in row 1; a point is"),
    "no point": (COLUMN, "path\na1->->b2", "path: unreadable points in 1 of 1 rows"),
    "mixed": (COLUMN, "path\na@1\nb@08:30\na@2", f"with the others in 1 of 3 rows, first in row 2; {ALIKE}"),
    "no number": (
        COLUMN,
        "path\na@NaN",
        "path: times that cannot be put in order with the others",
    ),
    "two ways": (COLUMN, "path\na@07\na@7", "path: times: 1 are written in two ways (07 and 7)"),
    "visits twice": (VISITS, "who,where,when\n1,a,2\n1,a,2", "where: the same visit twice in 1 of 2 rows"),
    "at once": (VISITS, "who,where,when\n1,a,2\n1,b,2", "where: two places at one time in 1 of 2 rows"),
    "nobody": (VISITS, "who,where,when\n,a,2", "who: nothing in 1 of 1 rows, first in row 1; a visit has"),
    "nowhere": (VISITS, "who,where,when\n1,a,2\n1,,3", "where: nothing in 1 of 2 rows, first in row 2"),
    "never": (VISITS, "who,where,when\n1,a,", "when: nothing in 1 of 1 rows"),
    "soon": (VISITS, "who,where,when\n1,a,1\n1,b,soon", "when: times that cannot be put in order"),
    "readings": (
        VISITS.replace("visits", "readings"),
        "who,where,when\n1,a,1\n1,b,soon",
        f"when: times that cannot be put in order with the others in 1 of 2 rows, first in row 2; {ALIKE}",
    ),
    "huge": (POINTS, f"who,lat,lon,when\n1,1e300,2,{AT}", "lat: not degrees in 1 of 1 rows, first in row 1"),
    "both": (POINTS, f"who,lat,lon,when\n1,1,inf,{AT}\n1,91,2,{AT}", "lon: not degrees in 1 of 2 rows"),
    "unknown": (
        f'{COLUMN}\nstops = "stops.txt"',
        "path\na1 z2",
        "1 of 2 places are not in the list",
    ),
    "no list": (f'{COLUMN}\nstops = "gone.txt"', "path\na1", "stops: gone.txt: there is no such file"),
    "nothing": (COLUMN, "path", "there is a header but not one record"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_is_refused_with_its_place_and_nothing_is_written(
    privet: Run, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shape, data, said = BAD[name]
    head, *rows = data.split("\n")
    Path("data.csv").write_text("\n".join([f"{head},ill", *(f"{row},flu" for row in rows)]) + "\n", "utf-8")
    Path("stops.txt").write_text("stop_id\na\nb\n", "utf-8")
    Path("policy.toml").write_text(
        f'policy = 1\nkind = "trajectories"\n[trajectories]\n{shape}\n'
        '[attributes]\nill = { role = "sensitive" }\n[[models]]\ntype = "k-anonymity"\nk = 1\n',
        "utf-8",
    )
    ran = privet("publish", "data.csv", "policy.toml", "-o", "out")
    assert ran.code == 2
    assert said in ran.err
    assert not [path for path in Path().iterdir() if path.name.startswith("out")]
