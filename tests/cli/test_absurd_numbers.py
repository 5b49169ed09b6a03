"""Numbers with absurd exponents are refused at once, wherever a number is read (issue 14, line 7)."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.pairs import policy_of, table_of
from tests.roads import noisy

import privet as pv
from privet.document.described import _buckets
from privet.document.pattern import _condition
from privet.document.query import Between
from privet.document.schema import Buckets, Kind
from privet.dp import cuts
from privet.dp.publicdomain import Numbers, Predictor
from privet.errors import InputError, PolicyError, PrivetError
from privet.hierarchy.numbers import FARTHEST, decimal, fraction, read
from privet.hierarchy.parse import parse
from privet.policy.notation import exact

Run: TypeAlias = Callable[..., Any]

ABSURD = ["1e99999999", "1e-99999999", "-1E+99999999", "0.1e9_999_999", "1e" + "9" * 5000, "9" * 5000]


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """A second or two is an age here; the honest way to read these takes minutes or all memory."""

    def late(*_: Any) -> None:
        raise AssertionError("it took too long")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("text", ABSURD)
def test_every_reader_refuses(text: str, tmp_path: Path) -> None:
    for reader in (fraction, decimal):
        with pytest.raises(ValueError, match=r"exponent|characters"):
            reader(text)
    assert read(text) is None
    with pytest.raises(PolicyError, match="exact number"):
        exact(text)
    with pytest.raises(PolicyError, match="exact number"):
        exact(text + "%")
    with pytest.raises(PolicyError):
        parse({"type": "intervals", "low": text, "high": 9}, base=tmp_path)
    with pytest.raises(PolicyError, match="buckets"):
        _buckets({"edges": [0, text]})
    assert _condition({"from": text}) is None
    assert text not in Between(Decimal(0), Decimal("Infinity"))
    with pytest.raises(InputError, match="number"):
        Buckets((Decimal(0), Decimal(9))).bucket(text)
    with pytest.raises(ValueError, match=r"exponent|characters"):
        Kind("a", (), (), text)  # type: ignore[arg-type]
    with pytest.raises((InputError, ValueError)):
        cuts.read(Predictor("n", Numbers(0, 9)), [{"label": "x", "interval": ["0", text]}])
    with pytest.raises(PrivetError):
        pv.Policy.loads(noisy.TEXT.replace('"1/2"', f'"{text}"'))
    with pytest.raises(PrivetError):
        pv.Policy.loads(noisy.TEXT.replace('"1/2"', text.replace("_", "")))  # without quotes


def test_what_is_shown_of_evidence_is_read_alike() -> None:
    from privet.report.numerals import amount, share

    for text in ABSURD:
        assert amount(text) is None
        assert share(text) is None


@given(st.fractions(), st.integers(-FARTHEST, FARTHEST))
def test_every_sane_number_is_read_as_before(number: Fraction, power: int) -> None:
    assert fraction(str(number)) == number
    assert fraction(f"3e{power}") == Fraction(f"3e{power}")
    assert decimal(f"-0.7E{power}") == Decimal(f"-0.7E{power}")


@pytest.mark.parametrize("text", ["", "x", "1/0", "nan", "1//2", "1e", "--1"])
def test_what_is_no_number_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        fraction(text)
    with pytest.raises(ValueError, match="not a number"):
        fraction([text])


@pytest.fixture
def ward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    noisy.table(300).write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(noisy.TEXT, encoding="utf-8")
    k = noisy.ATTRIBUTES.partition("codes")[0].replace("low = 18, high = 65", "width = [5]")
    k = k.replace('low = 0, high = "50.5", unit = "0.5"', "width = [5]")
    (tmp_path / "k.toml").write_text(k + '[[models]]\ntype = "k-anonymity"\nk = 3\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


ABSURD_WORD = "1e99999999"


@pytest.mark.parametrize(
    "words",
    [
        ("ledger", "open", "l", "--dataset", "d", "--budget", ABSURD_WORD),
        ("plan", "policy.toml", "--epsilon", ABSURD_WORD),
        ("risk", "people.csv", "k.toml", "--fraction", ABSURD_WORD),
        ("explore", "people.csv", "k.toml", "--suppression", ABSURD_WORD),
        ("sources", "check", "sources.toml", "--gamma", ABSURD_WORD),
    ],
)
def test_options_refuse_in_one_line(privet: Run, ward: Path, words: tuple[str, ...]) -> None:
    ran = privet(*words)
    assert ran.code == 2
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("policy", ["k.toml", "policy.toml"])
def test_a_table_with_such_a_number_is_answered(privet: Run, ward: Path, policy: str) -> None:
    text = (ward / "people.csv").read_text("utf-8").splitlines()
    text[1] = text[1].replace(text[1].split(",")[3], ABSURD_WORD, 1)
    (ward / "people.csv").write_text("\n".join(text) + "\n", "utf-8")
    privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--budget", "1")
    paid = ("--ledger", "ledger.sqlite", "--dataset", "ward") if policy == "policy.toml" else ()
    ran = privet("publish", "people.csv", policy, "-o", "out", *paid)
    assert ran.code == 2
    assert "pay" in ran.err
    assert ABSURD_WORD not in ran.err


def test_evidence_with_such_payments_is_found(privet: Run, ward: Path) -> None:
    privet("ledger", "open", "ledger.sqlite", "--dataset", "ward", "--budget", "1")
    privet(
        "publish", "people.csv", "policy.toml", "-o", "out", "--ledger", "ledger.sqlite", "--dataset", "ward"
    )
    whole = json.loads((ward / "out" / "evidence.json").read_text("utf-8"))
    changes: tuple[Callable[[Any], None], ...] = (
        lambda e: e["ledger"].update(epsilon=ABSURD_WORD),
        lambda e: e["ledger"].update(spent=ABSURD_WORD),
        lambda e: e["ledger"]["spends"][0].update(epsilon=ABSURD_WORD),
        lambda e: e["attributes"]["age"]["values"][0].update(interval=["18", ABSURD_WORD]),
    )
    for change in changes:
        evidence = json.loads(json.dumps(whole))
        change(evidence)
        (ward / "out" / "evidence.json").write_text(json.dumps(evidence), encoding="utf-8")
        assert privet("verify", "out").code == 1


def test_a_query_with_such_a_number_is_refused_before_the_database(tmp_path: Path) -> None:
    pytest.importorskip("sqlglot")
    from tests.disclose.audit_place import desk_in

    from privet.disclose.audit.sql import RefusedError

    desk = desk_in(tmp_path)
    with pytest.raises(RefusedError, match="number cannot be read"):
        desk.ask("ann", f"select sum(salary) from staff where age < {ABSURD_WORD}")
    desk.close()


@pytest.mark.parametrize(
    "words",
    [
        "plan ward.toml --records 1000 --epsilon 1e400",
        "plan ward.toml --records 1000 --epsilon 1e-400",
        "attack out --seed -1",
        "attack out --trials 99999999999999999999",
        "sample patients -o far.csv --rows 99999999999999999999",
    ],
)
def test_numbers_that_no_work_has_are_refused_with_a_sentence(
    words: str, privet: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ward.toml").write_text(noisy.TEXT, "utf-8")
    if words.startswith("attack"):
        table_of(1, rows=60).write_csv("raw.csv")
        Path("policy.toml").write_text(policy_of(["k-anonymity"], "mondrian").dumps(), "utf-8")
        assert privet("publish", "raw.csv", "policy.toml", "-o", "out").code == 0
    ran = privet(*words.split())
    assert ran.code == 2, ran.err
