"""Oblivious transfer and garbled circuits, against what plain bits give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.parties import house, run_each

from privet.errors import PartyError, UnsupportedError
from privet.parties.primitives import circuits
from privet.parties.primitives.circuits import bits_of, number_of
from privet.parties.primitives.drawing import less
from privet.parties.primitives.garbling import Circuit, Evaluating, Garbling, Plain
from privet.parties.primitives.oblivious import (
    EXPONENT,
    Bits,
    Powers,
    Receiver,
    Sender,
    _number,
    base_receive,
    base_send,
    group,
    receive_some,
    send_some,
)
from privet.parties.transport import Link, together


def test_the_group_is_that_of_rfc_7919() -> None:
    prime, generator = group()
    assert prime.bit_length() == 3072
    assert gmpy2.is_prime(prime)
    assert gmpy2.is_prime((prime - 1) // 2)
    # The first and last words of ffdhe3072, RFC 7919, appendix A.2.
    assert f"{int(prime):X}".startswith("FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1")
    assert f"{int(prime):X}".endswith("25E41D2B66C62E37FFFFFFFFFFFFFFFF")
    assert generator == 2


@pytest.mark.parametrize("wrong", [0, 1, -1, -2, 5])
def test_numbers_outside_the_group_are_refused(wrong: int) -> None:
    """Of the last two the prime leaves no square: only squares are the group."""
    with pytest.raises(PartyError, match=r"^south: .* not in the group"):
        _number((int(group()[0]) + wrong if wrong < 0 else wrong).to_bytes(384, "little"), "south")


@pytest.mark.parametrize("at", [0, 1])
def test_a_sender_that_would_read_every_choice_is_refused(at: int) -> None:
    """With a `common` that is no square, a key that was chosen second would be none either."""
    prime, g = group()
    assert gmpy2.legendre(5, prime) == -1
    choices = np.array([False, True])

    def dishonest(link: Link) -> None:
        sent = [int(gmpy2.powmod(g, 5, prime)), int(gmpy2.powmod(g, 7, prime))]
        sent[at] = sent[at] * 5 % int(prime)
        link.send(1, "ot common", b"".join(one.to_bytes(384, "little") for one in sent))

    with pytest.raises(PartyError, match=r"^north: .* not in the group"):
        run_each([dishonest, lambda link: base_receive(link, 0, choices)])


def test_a_transfer_gives_one_of_two_keys() -> None:
    choices = np.array([False, True, True, False])
    pairs, got = run_each([lambda link: base_send(link, 1, 4), lambda link: base_receive(link, 0, choices)])
    for (zero, one), key, choice in zip(pairs, got, choices, strict=True):
        assert key == (one if choice else zero)
        assert zero != one


@pytest.mark.parametrize("exponent", [0, 1, 2, 63, 64, 2**65 + 1, 2 ** (EXPONENT - 1), 2**EXPONENT - 1])
def test_powers_of_one_number_are_its_powers(exponent: int) -> None:
    """Other ones that both sides make alike would go through a transfer, and could be of fewer secrets."""
    prime, g = group()
    assert Powers(g).to(exponent) == gmpy2.powmod(g, exponent, prime)


def test_the_specs_trace_of_a_transfer() -> None:
    """Spec 09, 4.15: under RSA, in toy numbers; our group is another, what each side ends with is not."""
    n, e, d, messages, hidden, choice, k = 3233, 17, 2753, (65, 1234), (1000, 2000), 1, 123
    asked = (hidden[choice] + pow(k, e, n)) % n
    keys = [pow(asked - one, d, n) for one in hidden]
    sent = [(message + key) % n for message, key in zip(messages, keys, strict=True)]
    assert (asked, keys, sent) == (2855, [2862, 123], [2927, 1357])
    assert [(one - k) % n for one in sent] == [2804, 1234], "the one that was chosen, and nothing"


def test_many_transfers_from_a_few() -> None:
    rng = np.random.default_rng(1)
    one = house(2)
    messages = rng.integers(0, 2**64, (2, 2, 300, 2), dtype=np.uint64, endpoint=False)
    choices = rng.integers(0, 2, (2, 300)).astype(bool)

    def send(link: Link) -> None:
        sender = Sender(link, 1)
        for first, second in messages:
            sender.send(first, second)

    def receive(link: Link) -> Any:
        receiver = Receiver(link, 0)
        return [receiver.receive(some) for some in choices]

    _, got = together(one, [send, receive])
    for (first, second), some, found in zip(messages, choices, got, strict=True):
        assert np.array_equal(found, np.where(some[:, None], second, first))
    said = b"".join(payload for _, _, payload in one.links[1].traffic.transcript)
    assert not any(row.tobytes() in said for row in messages.reshape(-1, 2)), "messages travel covered"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_several_of_many(count: int) -> None:
    messages = [f"message {at}".encode() for at in range(count)]
    wanted = [at % count for at in (0, 4, 4, 7)]
    one = house(2)
    _, got = together(
        one,
        [
            lambda link: send_some(Sender(link, 1), link, 1, messages, len(wanted)),
            lambda link: receive_some(Receiver(link, 0), link, 0, wanted, count, 9),
        ],
    )
    assert got == [messages[at] for at in wanted]
    said = [payload for _, kind, payload in one.links[1].traffic.transcript if kind == "ot chosen"]
    assert not any(message in text for message in messages for text in said)


def test_messages_of_different_lengths_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="one length"):
        run_each(
            [
                lambda link: send_some(Sender(link, 1), link, 1, [b"a", b"bb"], 1),
                lambda link: Receiver(link, 0),
            ]
        )


def secretly(runs: list[tuple[Circuit, Bits, Bits]]) -> list[tuple[Any, Any]]:
    """Every circuit run by two parties over one set-up; what each of them learns."""

    def garble(link: Link) -> Any:
        side = Garbling(link, 1)
        return [side.run(circuit, mine, len(theirs)) for circuit, mine, theirs in runs]

    def evaluate(link: Link) -> Any:
        side = Evaluating(link, 0)
        return [side.run(circuit, theirs, len(mine)) for circuit, mine, theirs in runs]

    return list(zip(*run_each([garble, evaluate]), strict=True))


def plainly(circuit: Circuit, mine: Bits, theirs: Bits) -> Bits:
    found: Bits = circuit(Plain(), mine, theirs)
    return found


WIDE = 7
PAIRS = st.tuples(st.integers(0, 2**WIDE - 1), st.integers(0, 2**WIDE - 1))


OPERATIONS: dict[str, tuple[Circuit, Callable[[int, int], int]]] = {
    "sum": (lambda m, a, b: circuits.added(m, a, b, longer=True), lambda a, b: a + b),
    "above": (circuits.above, lambda a, b: int(a > b)),
    "maximum": (circuits.maximum, max),
    "equal": (circuits.equal, lambda a, b: int(a == b)),
    "less": (less, lambda a, b: (a - b) % 2**WIDE),
    "argmax": (lambda m, a, b: circuits.argmax(m, [a, b, a, b]), lambda a, b: int(b > a)),
    "not": (lambda m, a, b: m.flip(m.both(a, m.flip(b))), lambda a, b: 127 & ~(a & ~b)),
    "compared": (circuits.compared(WIDE), lambda a, b: int(a > b)),
    "of two": (circuits.largest_of_two(WIDE), lambda a, b: int(b > a)),
}


@pytest.mark.parametrize("name", OPERATIONS)
@given(pair=PAIRS)
@settings(max_examples=60)
def test_circuits_on_plain_bits_are_the_operation(name: str, pair: tuple[int, int]) -> None:
    circuit, operation = OPERATIONS[name]
    a, b = pair
    assert number_of(plainly(circuit, bits_of(a, WIDE), bits_of(b, WIDE))) == operation(a, b)


def test_garbled_they_give_the_same() -> None:
    rng = np.random.default_rng(7)
    runs, want = [], []
    for circuit, operation in OPERATIONS.values():
        for _ in range(4):
            a, b = rng.integers(0, 2**WIDE, 2).tolist()
            runs.append((circuit, bits_of(a, WIDE), bits_of(b, WIDE)))
            want.append(operation(a, b))
    for (garbler, evaluator), expected in zip(secretly(runs), want, strict=True):
        assert number_of(garbler) == number_of(evaluator) == expected


def test_a_result_for_one_is_not_sent_back() -> None:
    one = house(2)
    circuit = circuits.compared(8)
    found = together(
        one,
        [
            lambda link: Garbling(link, 1).run(circuit, bits_of(9, 8), 8, learn=False),
            lambda link: Evaluating(link, 0).run(circuit, bits_of(3, 8), 8, tell=False).tolist(),
        ],
    )
    assert found == [None, [True]]
    assert "result" not in [kind for _, kind, _ in one.links[0].traffic.transcript]


def test_an_and_costs_two_ciphertexts_and_an_addition_one_and_for_each_bit() -> None:
    plain: Plain[Bits] = Plain()
    circuits.added(plain, bits_of(3, 16), bits_of(9, 16))
    circuits.above(plain, bits_of(3, 16), bits_of(9, 16))
    assert plain.gates == 32


def test_the_sign_of_a_sum_costs_an_and_less_than_the_sum() -> None:
    for a, b in ((3, 9), (100, 27), (100, 28), (127, 127), (128, 128), (255, 1)):
        plain: Plain[Bits] = Plain()
        assert circuits.sign_of_sum(plain, bits_of(a, 8), bits_of(b, 8)).tolist() == [(a + b) % 256 >= 128]
        assert plain.gates == 7


def test_labels_that_are_an_offset_apart() -> None:
    """The sender has both of every pair, the receiver the one that it chose, and one message travels."""
    offset = np.array([0x1234_5678_9ABC_DEF1, 0xFEDC_BA98_7654_3210], dtype=np.uint64)
    choices = np.array([False, True, True, False, True])
    one = house(2)

    def receive(link: Link) -> Any:
        receiver = Receiver(link, 0)
        return receiver.apart(choices, receiver.keys(choices))

    first, got = together(one, [lambda link: Sender(link, 1).apart(5, offset), receive])
    assert np.array_equal(got, np.where(choices[:, None], first ^ offset, first))
    told = [payload for _, kind, payload in one.links[1].traffic.transcript if kind == "ot offsets"]
    assert [len(payload) for payload in told] == [5 * 16]
    others = np.where(choices[:, None], first, first ^ offset)
    said = b"".join(payload for _, _, payload in one.links[1].traffic.transcript)
    assert not any(row.tobytes() in said for row in (*first, *others, offset)), (
        "what was not chosen is covered"
    )


def test_labels_do_not_tell_the_evaluator_the_garblers_bits() -> None:
    """The same bit is sent as another label every time, and its last bit is chance."""
    circuit, one = circuits.compared(8), house(2)

    def garble(link: Link) -> None:
        side = Garbling(link, 1)
        for _ in range(8):
            side.run(circuit, bits_of(255, 8), 8)

    def evaluate(link: Link) -> None:
        side = Evaluating(link, 0)
        for _ in range(8):
            side.run(circuit, bits_of(0, 8), 8)

    together(one, [garble, evaluate])
    labels = [payload for _, kind, payload in one.links[1].traffic.transcript if kind == "labels"]
    words = np.frombuffer(b"".join(labels), dtype=np.uint64)
    assert len(set(words.tolist())) == len(words) == 128
    assert set((words[::2] & np.uint64(1)).tolist()) == {0, 1}
