"""What else the pages do: sets, paths before they leave, spans of days, samples, work that waits."""

from __future__ import annotations

import csv
import threading
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.studio.house import House, open_house
from tests.studio.test_gate import upload

from privet import effort, registry
from privet.cli import main
from privet.hierarchy.dates import Dates
from privet.policy.values import Policy
from privet.roads import check
from privet.roads.tables.road import judged
from privet.studio import columns, counting, cuts, promises
from privet.studio.before_after import prepared
from privet.studio.fields import inputs
from privet.studio.jobs import State
from privet.studio.look import looked
from privet.studio.questions import OWN
from privet.studio.seen import Bin, Column
from privet.studio.shape import TRANSACTIONS, Taken

ILLS, PLACES = ("flu", "cold", "gout"), ("Bonn", "Berlin", "Paris", "Lyon")


@pytest.fixture
def people(tmp_path: Path) -> House:
    path = tmp_path / "people.csv"
    rows = "".join(
        f"P{n},{20 + n % 31},{date(2020 + n % 5, 1 + n % 12, 1 + n % 28).isoformat()},{ILLS[n % 3]}\n"
        for n in range(240)
    )
    path.write_text("name,age,admitted,disease\n" + rows, encoding="utf-8")
    house = open_house(path)
    house.get("/")
    roles = {"name": "identifier", "age": "quasi", "admitted": "quasi", "disease": "sensitive"}
    for column, role in roles.items():
        house.done("/columns/role", {"column": column, "role": role})
    return house


# Dates.


def test_days_have_a_histogram_and_sliders(people: House) -> None:
    found = people.studio.look.column("admitted")
    assert found is not None
    assert found.dated
    assert sum(one.records for one in found.bins) == 240
    assert found.edge(found.bins[0].low) == "2020-01-01"
    page = people.page("/hierarchy?column=admitted")
    assert "Spans of days over the histogram" in page
    assert page.count('type="range"') == 3
    day = date(2022, 7, 1).toordinal()
    people.done("/hierarchy/edges", {"column": "admitted", "edge": [str(day), ""]})
    text = (people.project.folder / "hierarchies" / "admitted.csv").read_text(encoding="utf-8")
    for line in text.splitlines():
        value, span, root = line.split(";")
        first, _, last = span.partition(" to ")
        assert root == "*"
        assert date.fromisoformat(first) <= date.fromisoformat(value) <= date.fromisoformat(last)
        assert (value < "2022-07-01") == (last < "2022-07-01")
    assert "All" in people.page("/hierarchy?column=admitted")
    people.done("/promise/add", {"type": "k-anonymity", "k": "4"})
    assert not people.project.complaints()


DAYS = st.dates(date(1900, 1, 1), date(2100, 12, 31))


@settings(max_examples=50)
@given(st.lists(DAYS, min_size=1, max_size=30), st.lists(DAYS, max_size=5))
def test_spans_hold_every_day_once_and_in_order(values: list[date], cut: list[date]) -> None:
    texts = sorted({day.isoformat() for day in values})
    tree = cuts.spans(texts, [str(day.toordinal()) for day in cut], Dates())
    assert [leaf.label for span in tree.children for leaf in span.children] == texts
    inner = {day.isoformat() for day in cut if texts[0] < day.isoformat() <= texts[-1]}
    for span in tree.children:
        first, _, last = span.label.partition(" to ")
        assert all(first <= leaf.label <= last for leaf in span.children)
        assert not any(first < day <= last for day in inner)  # no cut inside a span


def test_a_rule_for_dates_and_the_steps_of_values(people: House) -> None:
    form = {"column": "admitted", "kind": "dates", "levels": ["month", "year"]}
    people.done("/hierarchy/simple", form)
    assert people.project.document()["attributes"]["admitted"]["hierarchy"]["levels"] == ["month", "year"]
    page = people.page("/hierarchy?column=admitted")
    value = people.studio.look.column("admitted").common[0][0]  # type: ignore[union-attr]
    assert f"<bdi>{value}</bdi>" in page
    assert f"<bdi>{value[:7]}</bdi>" in page
    assert f"<bdi>{value[:4]}</bdi>" in page


# Before and after.


def test_widths_take_the_place_of_bounds_that_were_drafted(people: House) -> None:
    people.done("/hierarchy/simple", {"column": "age", "kind": "intervals", "low": "20", "high": "60"})
    assert people.project.document()["attributes"]["age"]["hierarchy"]["low"] == 20
    stood = {"column": "age", "kind": "intervals", "width": "5, 10", "low": "20", "high": "60"}
    assert people.post("/hierarchy/simple", {**stood, "low": "10"}).status_code == 422  # said by somebody
    people.done("/hierarchy/simple", stood)
    assert people.project.document()["attributes"]["age"]["hierarchy"] == {
        "type": "intervals",
        "width": [5, 10],
    }


def test_each_record_is_shown_with_what_it_may_have_become(people: House) -> None:
    people.done("/promise/add", {"type": "k-anonymity", "k": "4"})
    job = people.ran("/publish/start")
    assert job.state is State.DONE, job.complaints
    folder = people.project.release("release-1")
    ready = prepared(people.project.given, folder)
    assert ready is not None
    found = ready.some("")
    assert found.records == found.found == 240
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        head, *left = list(csv.reader(file))
    order = [head.index(name) for name in found.columns]
    every = [tuple(row[at] for at in order) for row in left]
    for one in found.rows:
        ills = one.raw[found.columns.index("disease")]
        shown = [
            {raw} if told is None else set(told.removesuffix(" or …").split(" or "))
            for raw, told in zip(one.raw, one.published, strict=True)
        ]
        like = [row for row in every if row[found.columns.index("disease")] == ills]
        fits = [row for row in like if all(v in some for v, some in zip(row, shown, strict=True))]
        assert fits, one
        if one.kinds == 1:
            assert len(fits) == one.alike
    second = ready.some("", first=20)
    assert second.first == 20
    with Path(people.project.given).open(encoding="utf-8", newline="") as file:
        raw = list(csv.DictReader(file))
    assert second.rows[0].raw == tuple(raw[20][name] for name in found.columns)
    for search in ("FLU", "1", "nobody has this", " "):
        wanted = search.strip().lower()
        by_hand = [row for row in raw if any(wanted in value.lower() for value in row.values())]
        assert ready.some(search).found == len(by_hand)
    assert "Who is still at risk" in people.page("/release?name=release-1")
    risk = people.ran("/release/ask", {"name": "release-1", "what": "still-at-risk"})
    assert risk.state is State.DONE, risk.complaints
    assert risk.answer["prosecutor"]["highest"] <= 0.25
    assert "Class sizes" in people.page(f"/job?n={risk.number}")


SHOWS = {
    "verify": ("all hold", "never fewer than"),
    "explain": ("of the detail is lost on average", "Where it is lost", "Where the promises are tight"),
    "compare": ("What was lost", "What each column can still tell", "Risk before and after"),
    "attack": ("got more than the promise allows", "Guessing", "At worst"),
    "still-at-risk": ("What three attackers find", "Records at risk"),
}


@pytest.mark.parametrize(("search", "asked"), [("top-down", SHOWS), ("optimal", ("explain",))])
def test_what_is_asked_about_a_release_is_shown(people: House, search: str, asked: Collection[str]) -> None:
    people.done("/promise/add", {"type": "k-anonymity", "k": "4"})
    people.done("/promise/algorithm", {"type": search})
    people.ran("/publish/start")
    for what in asked:
        wanted = SHOWS[what]
        job = people.ran("/release/ask", {"name": "release-1", "what": what})
        assert job.state is State.DONE, (what, job.complaints)
        page = people.page(f"/job?n={job.number}")
        assert [said for said in wanted if said not in page] == [], what
        assert "/release?name=release-1" in page  # the way back


def test_nothing_is_shown_of_records_without_the_notes(people: House, tmp_path: Path) -> None:
    people.done("/promise/add", {"type": "k-anonymity", "k": "4"})
    people.ran("/publish/start")
    folder = people.project.release("release-1")
    folder.with_name("release-1.private").rename(tmp_path / "elsewhere")
    assert prepared(people.project.given, folder) is None
    assert "not known here" in people.post("/release/beside", {"name": "release-1"}).text


# Counts that are kept.


def test_counts_that_are_kept_say_what_check_says(people: House) -> None:
    for k in (2, 3, 4, 9):
        told = people.post("/promise/live", {"type": "k-anonymity", "k": str(k)}).json()
        models = [{"type": "k-anonymity", "k": k}]
        policy = Policy.from_document({**people.project.document(), "models": models}, base=Path())
        ((_, verdict),) = check(people.project.given, policy)
        assert told["text"] == f"Today {verdict.at_risk:,} of 240 records would have to change."
    first = people.studio.counts._soon
    people.post("/promise/live", {"type": "k-anonymity", "k": "5"})
    assert people.studio.counts._soon is first  # another k reads nothing again
    people.done("/columns/role", {"column": "admitted", "role": "other"})
    told = people.post("/promise/live", {"type": "k-anonymity", "k": "9"}).json()
    assert people.studio.counts._soon is not first
    ages = Counter(20 + n % 31 for n in range(240))
    risk = sum(many for many in ages.values() if many < 9)
    assert told["text"] == f"Today {risk} of 240 records would have to change."


def test_counts_are_counted_again_when_the_file_changes(people: House) -> None:
    people.post("/promise/live", {"type": "k-anonymity", "k": "2"})
    path = Path(people.project.given)
    path.write_text(path.read_text(encoding="utf-8") * 1 + "P999,99,2020-01-01,flu\n", encoding="utf-8")
    told = people.post("/promise/live", {"type": "k-anonymity", "k": "2"}).json()
    assert "of 241 records" in told["text"]


def test_what_several_columns_lack_is_said_once(people: House) -> None:
    for column in ("age", "admitted"):
        people.done("/hierarchy/simple", {"column": column, "kind": "flat"})
    people.done("/promise/add", {"type": "differential-privacy", "epsilon": "1"})
    page = people.page("/columns")
    assert page.count("needs a domain that the policy defines") == 1
    assert "age, admitted: hierarchy: differential privacy needs" in page


LINKED = {"type": "lkc-privacy", "l": "2", "k": "5", "c": "1/2", "sensitive": "disease"}


def test_what_takes_too_long_is_not_counted_and_not_guessed(people: House) -> None:
    exact = people.post("/promise/live", LINKED).json()
    assert exact["text"].startswith("Today ")
    people.studio.counts.longest = -1.0  # nobody waits at all
    told = people.post("/promise/live", {**LINKED, "k": "6"}).json()
    assert told["text"].startswith("Not counted here")
    assert "publishing counts it" in told["text"]
    assert told["sizes"] == []
    assert not any(digit in told["text"] for digit in "0123456789")
    assert told["sentences"]  # what is promised is said all the same
    again = people.post("/promise/live", {**LINKED, "k": "6"}).json()
    assert again == told  # and not begun again by who asks the same
    people.studio.counts.longest = 60.0
    assert people.post("/promise/live", LINKED).json() == exact


def test_a_click_does_not_wait_for_numbers(people: House, monkeypatch: pytest.MonkeyPatch) -> None:
    go, stopped = threading.Event(), threading.Event()

    def slow(tally: Any, policy: Any) -> Any:
        between = effort.between()
        try:
            while not go.wait(0.01):
                between()
        except effort.StoppedError:
            stopped.set()
            raise
        return judged(tally, policy)

    monkeypatch.setattr(counting, "judged", slow)
    token = {"token": people.studio.gate.form_token, "asker": "a tab"}
    headers = people.headers({"origin": people.studio.gate.origin})

    def asked(k: str) -> Any:
        form = {**LINKED, **token, "k": k}
        return people.raw(
            "POST", f"{people.studio.gate.path}/promise/live", data=form, headers=headers
        ).json()

    told = asked("5")
    assert told["counting"]
    assert told["text"] == promises.COUNTING
    assert told["sentences"]
    assert "All 4 are decided" in people.page("/columns")  # other pages are there meanwhile
    assert asked("6")["counting"]
    assert stopped.wait(20)  # the next question drops the last
    go.set()
    while (told := asked("6")).get("counting"):
        pass
    monkeypatch.undo()
    assert told == people.post("/promise/live", {**LINKED, "k": "6"}).json()


def test_several_tabs_do_not_drop_each_others_questions(people: House) -> None:
    counts, project = people.studio.counts, people.project

    def policy(k: int) -> Policy:
        models = [{"type": "k-anonymity", "k": k}]
        return Policy.from_document({**project.document(), "models": models}, base=Path())

    first = counts.verdicts(project, policy(2), "one")
    other = counts.verdicts(project, policy(3), "another")
    assert counts.verdicts(project, policy(2), "one") is first
    assert first.result(60)
    assert other.result(60)


def test_every_tab_gets_its_number_however_many_ask(people: House, monkeypatch: pytest.MonkeyPatch) -> None:
    go, at_once, most, begun = threading.Event(), threading.Semaphore(0), [0], []
    lock, now = threading.Lock(), [0]

    def slow(tally: Any, policy: Any) -> Any:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
            begun.append(policy.models[0].k)
        at_once.release()
        go.wait(60)
        with lock:
            now[0] -= 1
        return judged(tally, policy)

    monkeypatch.setattr(counting, "judged", slow)
    counts, project = people.studio.counts, people.project

    def asked(tab: int, k: int) -> Any:
        models = [{"type": "k-anonymity", "k": k}]
        policy = Policy.from_document({**project.document(), "models": models}, base=Path())
        return counts.verdicts(project, policy, f"tab {tab}")

    every = {tab: asked(tab, 2 + tab % 20) for tab in range(40)}
    assert all(every[tab] is every[tab + 20] for tab in range(20))  # who asks the same shares it
    again = {tab: asked(tab, 2 + tab % 20) for tab in range(40)}
    assert again == every  # and asking again begins nothing
    for _ in range(counting.AT_ONCE):
        assert at_once.acquire(timeout=20)
    assert asked(19, 2) is every[0]  # a tab changes its mind: another still wants what it asked
    assert asked(18, 2) is every[0]
    assert asked(38, 2) is every[0]  # and nobody wants this any more
    go.set()
    for tab, soon in every.items():
        if tab % 20 != 18:
            ((_, verdict),) = soon.result(60)
            assert verdict.at_risk == 240  # no two have the same age and day
    with pytest.raises(counting.DroppedError):
        every[18].result(60)
    assert most[0] <= counting.AT_ONCE
    assert sorted(begun) == [*range(2, 20), 21]
    assert asked(18, 20) is not every[18]  # who wants it after all is counted for
    assert asked(18, 20).result(60)


def test_answers_and_closed_tabs_are_not_kept_without_end(
    people: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "KEPT", 5)
    counts, project = people.studio.counts, people.project
    for k in range(2, 22):
        models = [{"type": "k-anonymity", "k": k}]
        policy = Policy.from_document({**project.document(), "models": models}, base=Path())
        assert counts.verdicts(project, policy, f"tab {k}").result(60)
    assert len(counts._questions) <= 6
    assert len(counts._of_tab) <= 6


def test_who_has_gone_is_not_counted_for(people: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "GONE", -1.0)  # everybody has
    policy = Policy.from_document(
        {**people.project.document(), "models": [{"type": "k-anonymity", "k": 2}]}, base=Path()
    )
    with pytest.raises(counting.DroppedError):
        people.studio.counts.verdicts(people.project, policy, "a tab").result(60)
    monkeypatch.undo()
    assert people.studio.counts.verdicts(people.project, policy, "a tab").result(60)


def test_a_large_table_is_sampled_only_where_it_is_said(
    people: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "MOST_TOGETHER", 100)
    page = together(people)
    assert "A sample: 80 of 240 records" in page
    assert "Promises are always checked on every record" in page
    told = people.post("/promise/live", {"type": "k-anonymity", "k": "300"}).json()
    assert told["text"] == "Today 240 of 240 records would have to change."  # all of them


def together(house: House) -> str:
    page = house.page("/columns/together")
    while "looking at columns together" in page:
        page = house.page("/columns/together")
    return page


def test_a_page_says_that_it_waits(people: House, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()

    def slow(*given: Any) -> Any:
        go.wait(60)
        return looked(*given)

    monkeypatch.setattr("privet.studio.look.looked", slow)
    fresh = open_house(Path(people.project.given))
    path = fresh.studio.gate.path
    waiting = fresh.raw("GET", f"{path}/columns", headers=fresh.headers({}))
    assert waiting.status_code == 200
    assert 'data-state="open/state"' in waiting.text
    state = fresh.raw("GET", f"{path}/open/state", headers=fresh.headers({}))
    assert state.json()["running"] is True
    go.set()
    assert "What is each column?" in fresh.page("/columns")


# Sets.


@pytest.fixture
def shop(tmp_path: Path) -> House:
    path = tmp_path / "baskets.csv"
    assert main(["sample", "baskets", "--rows", "300", "-o", str(path)]) == 0
    house = open_house(path)
    house.get("/")
    return house


def test_sets_from_a_file_to_a_verified_release(shop: House, tmp_path: Path) -> None:
    assert shop.opened("/open/again", {"kind": TRANSACTIONS}).status_code == 303
    document = shop.project.document()
    assert document["transactions"] == {"form": "column", "set": "items", "separator": ";"}
    assert set(document["attributes"]) == {"customer", "region"}
    page = shop.page("/columns")
    assert "The sets are read from it" in page
    with Path(shop.project.given).open(encoding="utf-8", newline="") as file:
        sets = [set(row["items"].split(";")) - {""} for row in csv.DictReader(file)]
    items = Counter(item for one in sets for item in one)
    commonest, many = items.most_common(1)[0]
    assert f"{len(items)} different items" in page
    assert f"{commonest}: {many:,} of 300 records" in page
    shop.done("/columns/role", {"column": "customer", "role": "identifier"})
    shop.done("/columns/role", {"column": "region", "role": "quasi"})
    assert "items of the sets" in shop.page("/hierarchies")
    shop.done("/hierarchy/begin", {"column": "items of the sets"})
    groups = {"food": sorted(items)[: len(items) // 2], "rest": sorted(items)[len(items) // 2 :]}
    for name, some in groups.items():
        shop.done(
            "/hierarchy/tree", {"column": "items of the sets", "what": "merge", "node": some, "new": name}
        )
    assert "All" in shop.page("/hierarchy?column=items of the sets")
    shop.done("/promise/add", {"type": "km-anonymity", "m": "2", "k": "5"})
    assert shop.project.complaints() == []
    told = shop.post("/promise/live", {"type": "km-anonymity", "m": "1", "k": "2"}).json()
    assert "text" in told
    job = shop.ran("/publish/start")
    assert job.state is State.DONE, job.complaints
    folder = shop.project.release("release-1")
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        left = list(csv.DictReader(file))
    assert "customer" not in left[0]
    for region in {row["region"] for row in left}:
        known = [set(row["items"].split(";")) - {""} for row in left if row["region"] == region]
        seen: Counter[tuple[str, ...]] = Counter()
        for size in (1, 2):
            seen.update(some for one in known for some in combinations(sorted(one), size))
        assert min(seen.values()) >= 5
    again = tmp_path / "again"
    assert main(["publish", shop.project.given, str(shop.project.policy_file), "-o", str(again)]) == 0
    assert (again / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()
    verified = shop.ran("/release/ask", {"name": "release-1", "what": "verify"})
    assert verified.answer["holds"] is True


def test_pages_offer_what_there_is_for_sets(shop: House) -> None:
    assert shop.opened("/open/again", {"kind": TRANSACTIONS}).status_code == 303
    for column in ("customer", "region"):
        shop.done("/columns/role", {"column": column, "role": "identifier"})
    shop.done("/promise/add", {"type": "km-anonymity", "m": "2", "k": "4"})
    page = shop.page("/explore")
    assert "/explore/start" not in page
    assert "/explore/lattice" not in page
    assert "this is a policy for transactions" in page
    page = shop.page("/hierarchy?column=items%20of%20the%20sets")
    assert "Use ranges" not in page
    assert "Use dates" not in page
    page = shop.page("/columns")
    card = page.partition("<bdi>items</bdi>")[2].partition("</section>")[0]
    assert "sets; " in card
    assert "identifier?" not in card


def test_lines_of_items_are_sets(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("".join(",".join(PLACES[: 1 + n % 4]) + "\n" for n in range(40)), encoding="utf-8")
    house = open_house(None, tmp_path / "work")
    found = upload(house, "lines.txt", path.read_bytes(), **{"x-kind": TRANSACTIONS})
    assert found.status_code == 303
    assert house.project.document()["transactions"] == {"form": "baskets", "separator": ","}
    assert "4 different items" in house.page("/columns")
    house.done("/promise/add", {"type": "km-anonymity", "m": "2", "k": "3"})
    assert house.ran("/publish/start").state is State.DONE
    wrong = {"form": "column", "set": "nobody", "separator": ";"}
    house.done("/columns/sets", wrong)
    assert house.get("/columns").status_code in {200, 422}  # said, not a fault
    assert upload(house, "x.csv", b"a\n", **{"x-kind": "evil"}).status_code == 400


def test_what_sets_are_taken_for_compares(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("visitor,page\n" + "".join(f"{n // 3},p{n % 5}\n" for n in range(90)), encoding="utf-8")
    found = looked(str(path), None, Taken(TRANSACTIONS))
    assert found.items is not None
    assert (found.records, found.items.different) == (30, 5)
    assert sum(many for _, many in found.items.common) == 90


# Paths before they leave.


def test_places_by_times_before_anything_is_published(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    assert main(["sample", "trips-city", "--rows", "200", "-o", str(path)]) == 0
    house = open_house(path)
    house.get("/")
    page = house.page("/columns/map")
    frame = pl.read_csv(path)
    visits = frame.get_column("path").str.split(" → ").explode().drop_nulls()
    few = sum(many < 5 for many in Counter(visits.to_list()).values())
    assert f"{frame.height} people with" in page
    assert f"{few} have fewer than five people" in page
    assert "The busiest places, by time" in page


def test_paths_of_gps_are_on_a_map(tmp_path: Path) -> None:
    path = tmp_path / "gps.csv"
    rows = "".join(
        f"u{n % 20},{52.5 + n % 4 * 0.02:.4f},{13.4 + n % 3 * 0.03:.4f},2024-05-0{1 + n % 3}T0{n % 9}:00\n"
        for n in range(120)
    )
    path.write_text("person,lat,lon,time\n" + rows, encoding="utf-8")
    house = open_house(path)
    house.get("/")
    if house.project.document()["kind"] != "trajectories":
        assert house.opened("/open/again", {"kind": "trajectories"}).status_code == 303
    said = {"form": "points", "person": "person", "lat": "lat", "lon": "lon", "time": "time"}
    house.done("/columns/paths", {**said, "slot": "60 min", "grid": "1000"})
    page = house.page("/columns/map")
    assert "Map of places" in page
    assert page.count("visits") > 3


def test_a_map_is_there_for_paths_only(people: House) -> None:
    assert people.get("/columns/map").status_code == 422


def test_a_letter_is_asked_for_as_what_it_means_in_its_own_promise() -> None:
    """l is what somebody knows in LKC-privacy alone; elsewhere it is how much must differ."""
    known = "How many values of a person may somebody know?"
    for name in registry.installed("models"):
        for one in inputs("models", name):
            assert (one.question == known) == ((name, one.name) == ("lkc-privacy", "l"))
            if one.needed:
                assert one.question != one.name.replace("_", " "), (name, one.name)
    models = set(registry.installed("models"))
    for owner, parameter in OWN:
        assert owner in models
        assert parameter in {one.name for one in inputs("models", owner)}


def test_columns_know_what_they_are() -> None:
    one = Column("a", "quasi", "", "numbers", 1, 0, 0, ())
    assert one.edge(2.5) == "2.5"
    assert cuts.sliders({}, one) is None
    assert cuts.sliders({}, None) is None
    parts = replace(one, bins=(Bin(0.02, 0.5, 7), Bin(0.5, 0.98, 3)))
    between = cuts.sliders({}, parts)
    assert between is not None  # round numbers, each once, and steps that lead to them
    assert (between.first, between.step, between.inner) == (0.02, 0.002, (0.26, 0.5, 0.74))
    whole = cuts.sliders({}, replace(one, bins=(Bin(0, 1, 7), Bin(1, 2, 3))))
    assert whole is not None
    assert (whole.step, whole.inner) == (1, (1.0,))
    drawn = cuts.sliders({"edges": [0.02, 0.4567, 0.98]}, parts)
    assert drawn is not None  # a cut that lies between the steps is not moved by looking at it
    assert (drawn.step, drawn.inner) == ("any", (0.4567,))
    assert cuts.sliders({}, replace(one, bins=(Bin(3, 4, 7),))) is None


def test_a_histogram_of_whole_numbers_says_which_they_are() -> None:
    """Of 0 and 1 the last bin ends before 2, which nobody has."""
    flag = Column(
        "smokes", "quasi", "", "numbers", 2, 0, 0, (), bins=(Bin(0, 1, 5), Bin(1, 2, 3)), highest=1.0
    )
    assert flag.ends == ("0", "1")
    assert [flag.span(one) for one in flag.bins] == ["0", "1"]
    wide = replace(flag, bins=(Bin(0, 10, 5), Bin(10, 20, 3)), highest=17.0)
    assert (wide.ends, wide.span(wide.bins[1])) == (("0", "17"), "10 to 20")
    endless = replace(flag, bins=(Bin(float("-inf"), float("inf"), 3),), highest=None)
    assert endless.span(endless.bins[0]) == "-inf to inf"


def test_a_tree_of_too_many_values_is_not_begun_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("privet.studio.trees.LARGEST_BEGUN", 9)
    data = tmp_path / "people.csv"
    data.write_text("code,sex\n" + "".join(f"A{n},{'mf'[n % 2]}\n" for n in range(10)), encoding="utf-8")
    house = open_house(data)
    house.get("/")
    for name in ("code", "sex"):
        house.done("/columns/role", {"column": name, "role": "quasi"})
    found = house.post("/hierarchy/begin", {"column": "code"})
    assert found.status_code == 422
    assert "too many to be drawn by hand" in found.text
    assert "/hierarchy/begin" not in house.page("/hierarchy?column=code")
    assert "/hierarchy/begin" in house.page("/hierarchy?column=sex")
    house.done("/hierarchy/begin", {"column": "sex"})
