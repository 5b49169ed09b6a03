"""A party that does not follow the protocol: the others end the run with a sentence, and publish nothing.

Every kind of message of every protocol is changed on its way out of one party, in several ways. What follows
is an error that says that a party is at fault or that the promise cannot be kept, or a result that was
checked like any other; never a fault of our own, and never somebody's values in the sentence.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from gmpy2 import mpz
from tests.parties import federation, hospitals, test_loan
from tests.parties.noisy import TABLE_7_1, Quiet, one_table, plan, quick
from tests.parties.parties import NAMES, house, run_each

from privet.errors import InputError, InternalError, PartyError, PolicyError, PrivetError
from privet.parties.contract import Contract
from privet.parties.itemsets import MiningContract
from privet.parties.mining import by_columns, by_people
from privet.parties.noisy.joint import paired, release
from privet.parties.primitives.paillier import ROOTS, PrivateKey, PublicKey, Sizes
from privet.parties.primitives.randomness import agreed
from privet.parties.primitives.scalar import receive_key
from privet.parties.shown import Asking
from privet.parties.transport import InProcess, Link, Session, together
from privet.parties.virtual.answering import answered
from privet.parties.virtual.asking import Question
from privet.parties.virtual.contract import DatabaseContract
from privet.parties.virtual.growing import grown
from privet.parties.virtual.memory import Memory
from privet.parties.virtual.rules import Diversity, Rules
from privet.parties.virtual.sites import Among
from privet.parties.words import Adding
from privet.registry import find
from privet.roads.parties.party import take_part
from privet.roads.parties.rehearsing import make_database

Part = Callable[[Link], Any]
CANARY = "Transgender"
CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "garbage": lambda payload: secrets.token_bytes(len(payload)),
    "ones": lambda payload: b"\xff" * len(payload),
    "nothing": lambda payload: bytes(len(payload)),
    "a bit": lambda payload: bytes([payload[0] ^ 1]) + payload[1:],
    "short": lambda payload: payload[:-1],
    "long": lambda payload: payload + b"\0",
    "empty": lambda _: b"",
    "huge": lambda payload: payload * (1 + (1 << 20) // len(payload)),
}
OTHER_LENGTH = {"short", "long", "empty", "huge"}
EARLIER = "earlier"  # what the party has said in the first message of that kind and length, again and again


WAYS = [*CHANGES, EARLIER]


def change_of(name: str) -> Callable[[bytes], bytes]:
    said: dict[int, bytes] = {}
    return CHANGES.get(name, lambda payload: said.setdefault(len(payload), payload))


@contextmanager
def changed(by: int, kind: str | None, change: Callable[[bytes], bytes]) -> Iterator[set[tuple[int, str]]]:
    """One party's messages of one kind are others; which kinds each party sends is kept."""
    honest, seen = Link.send, set()

    def send(self: Link, to: int, told: str, payload: bytes) -> None:
        if payload:
            seen.add((self.me, told))
        honest(self, to, told, change(payload) if (self.me, told) == (by, kind) and payload else payload)

    with patch.object(Link, "send", send):
        yield seen


def run(names: tuple[str, ...], part: Part, patience: float = 60.0) -> list[Any]:
    session = Session(secrets.token_bytes(16), b"c" * 32, names)
    return together(InProcess(session, patience=patience), [part] * len(names))


def hospital(folder: Path, names: str, **more: Any) -> tuple[tuple[str, ...], Part]:
    """The hospitals of table 5.2, its rows dealt to so many of them."""
    agreed_on = hospitals.contract(parties=tuple(names), **more)
    files = hospitals.parts(folder, split={str(at): names[at % len(names)] for at in range(1, 12)})
    engine = find("engines", "embedded")()
    return agreed_on.parties, lambda link: take_part(link, agreed_on, files[link.me], engine)


def loan(folder: Path, **more: Any) -> tuple[tuple[str, ...], Part]:
    agreed_on = Contract.from_document(test_loan.document(**more), base=Path())
    files = test_loan.parts(folder)
    engine = find("engines", "embedded")()
    return agreed_on.parties, lambda link: take_part(link, agreed_on, files[link.me], engine)


def noisy(select: str, *, columns: bool) -> tuple[tuple[str, ...], Part]:
    made = plan(select, columns=columns, h=1)
    whole = [one_table()] * 2
    parts = whole if columns else [one_table(TABLE_7_1[:5]), one_table(TABLE_7_1[5:])]
    return NAMES[:2], lambda link: release(paired(link, made, parts[link.me]), made, parts[link.me], Quiet())


def virtual(diversity: Diversity) -> tuple[tuple[str, ...], Part]:
    rows, whose = federation.codes()
    rules = Rules(2, 2, diversity)
    return NAMES[:3], lambda link: grown(
        rows[whose == link.me], (90, 90), rules, Among(link, Adding.PAIRWISE)
    )


def answering(*, forgotten: bool) -> tuple[tuple[str, ...], Part]:
    """An answer that unites rows; or one where the last site is told again what it has lost."""
    agreed_on = federation.contract()
    made = make_database(agreed_on, federation.frames(), find("engines", "embedded")())
    question = Question.parsed([], agreed_on)
    if forgotten:
        made.ask(question)
    kept = [replace_memory(one, lost=not forgotten or at == 2) for at, one in enumerate(made.memories)]
    return agreed_on.parties, lambda link: answered(
        link, agreed_on, made.tables[link.me], question, replace_memory(kept[link.me], lost=False)
    )


def replace_memory(one: Memory, *, lost: bool) -> Memory:
    """The same site's memory, or none; each run has its own."""
    if lost:
        return Memory(secret=one._secret)
    return Memory(dict(one._rows), dict(one._tries), secret=one._secret, seals=dict(one._seals))


SHARE = Fraction(1, 4)
ITEMS = np.random.default_rng(1).random((30, 4)) < 0.5
SCENES: dict[str, Callable[[Path], tuple[tuple[str, ...], Part]]] = {
    "people, counts, ring": lambda at: hospital(at, "ABC", reveal="counts", sum="ring"),
    "people, counts": lambda at: hospital(at, "ABC", reveal="counts"),
    "people, decisions": lambda at: hospital(at, "ABC"),
    "people, decisions, four": lambda at: hospital(at, "ABCD", rows_at_most=5),
    "people, two": lambda at: hospital(at, "AB"),
    "columns, scores": loan,
    "columns": lambda at: loan(at, reveal="decisions"),
    "noisy, columns": lambda _: noisy("exponential", columns=True),
    "noisy-max, columns": lambda _: noisy("noisy-max", columns=True),
    "noisy-max, people": lambda _: noisy("noisy-max", columns=False),
    "noisy, people": lambda _: noisy("exponential", columns=False),
    "mining, people": lambda _: (NAMES[:3], lambda link: by_people(link, ITEMS[link.me :: 3], SHARE)),
    "mining, columns": lambda _: (NAMES[:2], lambda link: by_columns(link, ITEMS, [0, 0, 1, 1], SHARE)),
    "virtual": lambda _: virtual(Diversity.DISTINCT),
    "virtual, entropy": lambda _: virtual(Diversity.ENTROPY),
    "answer": lambda _: answering(forgotten=False),
    "answer, told again": lambda _: answering(forgotten=True),
}  # fmt: skip


def tried(names: tuple[str, ...], part: Part, by: int, kind: str, change: str) -> str:
    """How a run ends in which one kind of message is another."""
    with changed(by, kind, change_of(change)) as seen:
        try:
            run(names, part, patience=0.5)  # two may wait for each other; that one is late is a sentence, too
        except InternalError as error:
            raise AssertionError(f"{kind}, {change}: taken for our own fault: {error}") from error
        except PrivetError as error:
            said, code = str(error), error.code
        else:  # who sends what may depend on what is drawn
            return "checked" if (by, kind) in seen else "not sent"
    assert CANARY not in said
    return code


@pytest.mark.one_in(3)
@pytest.mark.parametrize("scene", [one for one in SCENES if one != "noisy, people"])  # many gates: slow
def test_every_message_that_is_another_ends_in_a_sentence(scene: str, tmp_path: Path) -> None:
    """One change for every kind, by one of those who send it in turn; `-m slow` makes all of them, by all."""
    names, part = SCENES[scene](tmp_path)
    with quick():
        with changed(-1, None, bytes) as seen:
            run(names, part)
        kinds = sorted({kind for _, kind in seen} - {"both keys"})  # what `quick` sends in the clear
        for at, kind in enumerate(kinds):
            senders = sorted(by for by, told in seen if told == kind)
            tried(names, part, senders[at % len(senders)], kind, WAYS[at % len(WAYS)])


@pytest.mark.slow
@pytest.mark.parametrize("change", WAYS)
@pytest.mark.parametrize("scene", SCENES)
def test_in_every_way(scene: str, change: str, tmp_path: Path) -> None:
    names, part = SCENES[scene](tmp_path)
    with quick():
        with changed(-1, None, bytes) as seen:
            run(names, part)
        for by, kind in sorted(one for one in seen if one[1] != "both keys"):
            ended = tried(names, part, by, kind, change)
            if change in OTHER_LENGTH:
                assert ended in {"party", "not sent"}, f"{kind}: a message of another length was read"


# By name, what would have gone through.


def test_a_row_that_is_changed_in_the_shuffle_is_missed_by_its_owner(tmp_path: Path) -> None:
    names, part = hospital(tmp_path, "ABC")
    with quick(), changed(1, "open", CHANGES["a bit"]), pytest.raises(PrivetError):
        run(names, part)


def test_whose_row_was_changed_in_the_opening_is_told_to_nobody(tmp_path: Path) -> None:
    """Or whoever changes a share would learn by who objects whose row it was."""
    names, part = hospital(tmp_path, "ABC", reveal="counts")
    with (
        changed(1, "open", lambda payload: payload[:-8] + bytes([payload[-8] ^ 1]) + payload[-7:]),
        pytest.raises(PartyError, match="handed in; whose they are is told to nobody"),
    ):
        run(names, part)


def test_a_party_that_lies_about_its_parts_breaks_the_promise_and_nothing_is_published(
    tmp_path: Path,
) -> None:
    names, part = loan(tmp_path)
    sent = iter([False, False, True])

    def third(payload: bytes) -> bytes:
        """One person in a group of its own, whoever comes first."""
        return b"\1" + bytes(len(payload) - 1) if next(sent, False) else payload

    with changed(0, "parts", third), pytest.raises(PartyError, match="breaks lkc-privacy: a party"):
        run(names, part)


def test_a_leader_that_asks_for_the_same_counts_again_is_refused(tmp_path: Path) -> None:
    """Or it would go on asking for ever."""
    names, part = hospital(tmp_path, "ABC", reveal="counts")
    honest = Asking._asked

    def twice(self: Asking, what: int, candidates: Any, mine: Any) -> Any:
        honest(self, what, candidates, mine)
        return honest(self, what, candidates, mine)

    with (
        patch.object(Asking, "_asked", twice),
        pytest.raises(PartyError, match="A: asks for the same counts"),
    ):
        run(names, part)


@pytest.mark.parametrize(
    "lie",
    [
        np.zeros_like,  # nobody is left of a group
        lambda counters: counters + 1,  # more than there are
        lambda counters: counters * (np.arange(counters.shape[-1]) > 0),  # who has a value is nobody
        lambda counters: counters + (np.arange(counters.shape[-1]) > 0) * 100,  # nor more than all
    ],
)
def test_counters_that_no_records_have_are_refused(
    tmp_path: Path, lie: Callable[[np.ndarray], np.ndarray]
) -> None:
    """A party that adds others makes any sum of them; of random ones, one in hundreds had no parts at all."""
    names, part = hospital(tmp_path, "ABC", reveal="counts")
    honest = Asking.ahead

    def added(self: Asking, candidates: Any) -> Any:
        return [lie(one) for one in honest(self, candidates)]

    with patch.object(Asking, "ahead", added), pytest.raises(PartyError, match="counters that its records"):
        run(names, part)


def test_a_leader_that_lies_about_what_occurs_is_named(tmp_path: Path) -> None:
    names, part = hospital(tmp_path, "ABC", reveal="counts")
    with changed(0, "occurring", CHANGES["nothing"]), pytest.raises(PartyError, match=r"^A: says of a split"):
        run(names, part)


def test_a_key_of_small_order_is_refused() -> None:
    """Whoever sends it would know the common seed, and so would anybody else."""

    def dishonest(link: Link) -> None:
        link.send(1, "key", bytes(32))

    with pytest.raises(PartyError, match=r"^north: sent a key that is not one of the group"):
        run_each([dishonest, lambda link: agreed(link, "a test")])


# Keys of encryption.


def unfit() -> dict[str, Any]:
    """Numbers that are no Paillier key, of the length of one."""
    prime = PrivateKey.fresh(512)._p
    p = PrivateKey.fresh(512)._p
    q = next(k * p + 1 for k in range(2, 10**6, 2) if mpz(k * p + 1).is_prime())
    return {
        "a square": prime * prime,
        "a factor of what the other is above": p * q,
        "a small factor": mpz(6367) * next(n for n in range(2**500 + 1, 2**501, 2) if mpz(n).is_prime()),
    }


@pytest.mark.parametrize("which", ["a square", "a factor of what the other is above", "a small factor"])
def test_a_key_that_is_none_is_refused_though_its_owner_knows_its_factors(which: str) -> None:
    """Under such a key, fresh chance does not cover what a ciphertext was made of."""
    with Sizes.for_tests(512):
        fit = PrivateKey.fresh(512)
        n = unfit()[which]
        key = PublicKey(n)
        best = [
            pow(int(one), 1, int(n)) for one in key._challenge(b"here")
        ]  # no roots: the numbers themselves
        with pytest.raises(PartyError, match="not proved"):
            key.refuse_unproved(b"".join(one.to_bytes(key.wide, "little") for one in best), b"here")
        fit.public.refuse_unproved(fit.proof(b"here"), b"here")
        for proof, context in ((fit.proof(b"there"), b"here"), (b"", b"here"), (bytes(64 * ROOTS), b"here")):
            with pytest.raises(PartyError, match="not proved"):
                fit.public.refuse_unproved(proof, context)


@pytest.mark.parametrize("length", [0, 1, 63, 5000, 2**32 - 1])
def test_a_key_of_any_other_length_is_refused_by_name(length: int) -> None:
    def dishonest(link: Link) -> None:
        link.send(1, "key length", length.to_bytes(4, "little"))
        link.send(1, "key", secrets.token_bytes(min(length, 4096)))

    with Sizes.for_tests(512), pytest.raises(PartyError, match=r"^north: "):
        run_each([dishonest, lambda link: receive_key(link, 0, 512)])


# Documents that another organisation sends.

WORDS: tuple[Any, ...] = ([], [["people"]], {"a": 1}, 1, True, "1e999999999", "1/0", float("nan"))
MINING = {
    "mining": 1, "split": "people", "parties": ["a", "b", "c"], "support": "1/10", "person": "id",
    "item": "item", "items": ["x"],
}  # fmt: skip


@pytest.mark.parametrize("word", WORDS, ids=repr)
@pytest.mark.parametrize("key", ["split", "reveal", "sum", "sensitive_owner", "parties", "noisy"])
def test_a_contract_of_other_types_is_refused_in_words(key: str, word: Any) -> None:
    with pytest.raises(PolicyError):
        Contract.from_document(test_loan.document(**{key: word}), base=Path())


@pytest.mark.parametrize("word", WORDS, ids=repr)
def test_so_are_the_other_documents(word: Any) -> None:
    """A number such as 1e999999999 is read as none, and not for minutes."""
    for key in ("split", "support"):
        with pytest.raises(PolicyError):
            MiningContract.from_document({**MINING, key: word})
    for key in ("loss", "guard", "sum"):
        with pytest.raises(PolicyError):
            DatabaseContract.from_document(federation.document(**{key: word}))


@pytest.mark.parametrize("end", [float("inf"), float("nan"), "5", 5.0, True, None, [], 10**30, -1])
def test_a_question_names_whole_numbers(end: Any) -> None:
    with pytest.raises(InputError):
        Question.from_document({"where": {"age": [[0, end]]}, "certain": False}, federation.contract())


def test_nobody_waits_for_a_party_that_went() -> None:
    """The same house serves the next run: nothing of the last is left in it."""
    with quick():
        assert len(run(*noisy("noisy-max", columns=False))) == 2
    assert house(2).links[0].traffic.messages == 0
