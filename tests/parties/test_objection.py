"""Somebody objects, and nobody learns who."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.parties.parties import house, run

from privet.errors import PartyError, UnsupportedError
from privet.parties.primitives import objection
from privet.parties.primitives.objection import ObjectedError, anybody_objects, refuse_objected
from privet.parties.transport import Link, together


@pytest.mark.parametrize("who", [(), (0,), (2,), (0, 1), (0, 1, 2, 3)])
@pytest.mark.parametrize("parties", [3, 4])
def test_all_learn_whether_anybody_objects(who: tuple[int, ...], parties: int) -> None:
    found = run(parties, lambda link: anybody_objects(link, b"same", objects=link.me in who))
    assert found == [any(one < parties for one in who)] * parties


def test_who_holds_something_else_is_an_objection_at_all() -> None:
    assert run(3, lambda link: anybody_objects(link, b"x" if link.me else b"y", objects=False)) == [True] * 3


def test_two_are_refused_since_one_would_be_the_other() -> None:
    with pytest.raises(UnsupportedError, match="three parties"):
        run(2, lambda link: anybody_objects(link, b"", objects=False))


def test_the_words_are_the_same_at_all_and_name_nobody() -> None:
    said: list[str] = [""] * 3

    def part(link: Link) -> None:
        try:
            refuse_objected(link, b"", "rows are missing", objects=link.me == 1)
        except ObjectedError as error:
            said[link.me] = str(error)

    run(3, part)
    assert set(said) == {"rows are missing; whose they are is told to nobody"}


def numbers(who: int | None) -> np.ndarray[Any, Any]:
    """What the first of three sees of the other two, in many runs."""
    found = []
    for _ in range(200):
        one = house(3)
        together(one, [lambda link: anybody_objects(link, b"", objects=link.me == who)] * 3)
        heard = [
            p[objection.NONCE :] for _, kind, p in one.links[0].traffic.transcript if kind == "objection"
        ]
        found.append([int.from_bytes(p, "little") for p in heard])
    return np.array(found, dtype=np.uint64)


@pytest.mark.slow
@pytest.mark.parametrize("who", [None, 1, 2])
def test_what_each_puts_in_is_chance(who: int | None) -> None:
    """Bits of either number are even, whoever objects: 200 runs of 64 bits, six deviations."""
    for column in numbers(who).T:
        ones = sum(int(one).bit_count() for one in column.tolist())
        assert abs(ones - 6400) < 6 * (12800 / 4) ** 0.5


def test_who_speaks_last_silences_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take the others' sum off its own, but has promised its own before."""
    honest = objection._exchanged

    def last(link: Link, kind: str, mine: bytes) -> dict[int, bytes]:
        if link.me or kind != "objection":
            return honest(link, kind, mine)
        heard = {party: link.receive(party, kind, len(mine)) for party in link.others}
        total = sum(int.from_bytes(one[objection.NONCE :], "little") for one in heard.values())
        for party in link.others:
            link.send(party, kind, mine[: objection.NONCE] + (-total % 2**64).to_bytes(8, "little"))
        return heard

    monkeypatch.setattr(objection, "_exchanged", last)
    with pytest.raises(PartyError, match="north: says something else than it has promised"):
        run(3, lambda link: anybody_objects(link, b"", objects=link.me == 1))


def test_who_keeps_its_number_back_has_objected(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has heard those of the others, and so whether one of them objects: no accident, and not for free."""
    honest = objection._exchanged

    def keeps(link: Link, kind: str, mine: bytes) -> dict[int, bytes]:
        if link.me or kind != "objection":
            return honest(link, kind, mine)
        for party in link.others:
            link.receive(party, kind, len(mine))
        raise PartyError("has heard enough")

    monkeypatch.setattr(objection, "_exchanged", keeps)
    heard: list[type[BaseException] | None] = [None] * 3

    def part(link: Link) -> None:
        try:
            anybody_objects(link, b"", objects=link.me == 1)
        except PartyError as error:
            heard[link.me] = type(error)
            raise

    with pytest.raises(PartyError):
        run(3, part)
    assert heard[1:] == [ObjectedError] * 2
