"""Bindings over finite sets: the worked example, and the theorems on everything small."""

from __future__ import annotations

from collections.abc import Iterator

from tests.disclose.audit_finite import (
    decide,
    eta_binding,
    eta_simple,
    eta_simulatable,
    is_safe_binding,
    is_ultimate,
)


def cells(*texts: str) -> list[frozenset[str]]:
    return [frozenset(text) for text in texts]


def several(states: frozenset[str]) -> bool:
    return len(states) > 1


def test_e1_queries_as_partitions() -> None:
    for answered in (cells("126", "345"), cells("14", "23", "56")):
        assert not eta_simple(answered, several)
        assert not eta_simulatable(answered, several)
        assert not eta_binding(answered, answered, several)
    query, binding = cells("1", "23", "456"), cells("16", "23", "45")
    assert eta_simple(query, several) == frozenset("1")
    assert eta_simulatable(query, several) == frozenset("123456")
    assert is_safe_binding(query, binding, several)
    assert is_ultimate(query, binding, several)
    assert eta_binding(query, binding, several) == frozenset("16")
    assert decide("1", query, binding, several) is None
    assert decide("4", query, binding, several) == frozenset("45")
    assert not is_safe_binding(cells("1", "26", "345"), binding, several)


def partitions(states: str) -> Iterator[list[frozenset[str]]]:
    if not states:
        yield []
        return
    first, rest = states[0], states[1:]
    for smaller in partitions(rest):
        yield [frozenset(first), *smaller]
        for at, cell in enumerate(smaller):
            yield [*smaller[:at], cell | {first}, *smaller[at + 1 :]]


def test_theorems_on_all_queries_and_bindings_of_up_to_five_states() -> None:
    """Counted: 519 safe bindings, as the spec says."""
    found = 0
    for size in range(1, 6):
        states = "abcde"[:size]
        everything = frozenset(states)
        for query in partitions(states):
            bad = eta_simple(query, several)
            assert eta_simulatable(query, several) in (frozenset(), everything)  # theorem 1
            for binding in partitions(states):
                if not is_safe_binding(query, binding, several):
                    continue
                found += 1
                denied = eta_binding(query, binding, several)
                assert bad <= denied
                assert not denied or several(denied)  # theorem 2: deny-safe
                assert denied <= eta_simulatable(query, several)  # theorem 4
                for state in states:  # and so is whatever is answered
                    left = decide(state, query, binding, several)
                    assert left is None or several(left)
                if is_ultimate(query, binding, several):  # theorem 3
                    assert len([cell for cell in binding if cell & bad]) == bool(bad)
    assert found == 519


def test_theorem_5_every_safe_strategy_is_a_binding() -> None:
    for size in range(2, 5):
        states = "abcde"[:size]
        for query in partitions(states):
            bad = eta_simple(query, several)
            for chosen in range(1, 1 << size):
                denied = frozenset(state for at, state in enumerate(states) if chosen >> at & 1)
                left = [cell - denied for cell in query if cell - denied]
                if not bad or not bad <= denied or not several(denied) or not all(map(several, left)):
                    continue
                assert any(
                    is_safe_binding(query, binding, several)
                    and eta_binding(query, binding, several) == denied
                    for binding in partitions(states)
                )
