"""client.js answers as the Python client does: the same plan, the same random bytes, the same answers."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.collect import naive, vectors

import privet.collect
from privet.collect import AnswerLedger, Plan, answer
from privet.collect.channels import Additive, Response, Unary
from privet.collect.numerals import exact, written
from privet.collect.observe import read
from privet.collect.plan import canonical
from privet.collect.stream import perturb_json
from privet.errors import InputError, PolicyError, PrivetError

NODE = shutil.which("node")
CLIENT = Path(privet.collect.__file__).with_name("client.js")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not on this machine: client.js cannot be run")
AGE = {"type": "number", "low": 0, "high": 100, "mechanism": "laplace", "epsilon": 1}
KRR = {"type": "category", "values": ["a", "b", "c"], "mechanism": "k-randomised-response", "epsilon": "1/2"}


def ran(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    script = Path(__file__).with_name("client_test.js")
    done = subprocess.run(
        [str(NODE), str(script), str(CLIENT)],
        input=json.dumps(tasks),
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_the_python_client_keeps_to_the_vectors() -> None:
    assert vectors.written() == vectors.FILE.read_text(encoding="utf-8")


@needs_node
def test_the_javascript_client_keeps_to_the_vectors() -> None:
    cases = json.loads(vectors.FILE.read_text(encoding="utf-8"))
    assert len(cases) == 120
    for case, done in zip(cases, ran(cases), strict=True):
        assert done["sent"] == case["sent"]


@needs_node
def test_both_clients_agree_at_the_very_edges_of_the_weights() -> None:
    """A word that equals a running sum belongs to the next step, here and there."""
    plan = naive.plan_of(age={**AGE, "high": 6})
    channel = plan.columns["age"].channel
    assert isinstance(channel, Additive)
    edges = [word for cut in channel.cuts for word in (cut - 1, cut)]
    tasks = [
        {"form": plan.form(), "answers": {"age": 3}, "bytes": word.to_bytes(8, "little").hex()}
        for word in edges
    ]
    for word, done in zip(edges, ran(tasks), strict=True):
        sent = answer(plan, {"age": 3}, take=partial(word.to_bytes, byteorder="little"))
        assert done["sent"] == sent


@needs_node
@pytest.mark.parametrize("mechanism", ["unary", "optimised-unary", "k-randomised-response"])
def test_both_clients_agree_at_the_very_edges_of_categories(mechanism: str) -> None:
    """The last word that sets a bit or keeps a value, and the first that does not."""
    plan = naive.plan_of(job={**KRR, "mechanism": mechanism})
    channel = plan.columns["job"].channel
    if isinstance(channel, Unary):
        words = [one - less for one in (channel.one, channel.zero) for less in (0, 1)]
        fuel = [b"".join(word.to_bytes(4, "little") for _ in "abc") for word in words]
    else:
        assert isinstance(channel, Response)
        ends = [channel.keep, channel.keep + channel.other]
        fuel = [(end - less).to_bytes(8, "little") for end in ends for less in (0, 1)]
    given = {"job": "b"}
    tasks = [{"form": plan.form(), "answers": given, "bytes": one.hex()} for one in fuel]
    sent = [answer(plan, given, take=io.BytesIO(one).read) for one in fuel]
    assert [done["sent"] for done in ran(tasks)] == sent
    assert len({one["answers"]["job"] for one in sent}) > 1


@needs_node
def test_both_clients_state_the_same_epsilon() -> None:
    forms = [case["form"] for case in json.loads(vectors.FILE.read_text(encoding="utf-8"))]
    for form, done in zip(forms, ran([{"form": form, "epsilons": True} for form in forms]), strict=True):
        plan = Plan.from_document(form)
        for name, said in done["sent"].items():
            epsilon = plan.columns[name].epsilon
            assert epsilon == (None if said is None else exact(said))


def _taken(left: list[str], size: int) -> bytes:
    found = bytes.fromhex(left.pop(0))
    assert len(found) == size
    return found


@needs_node
def test_both_ledgers_repeat_and_refuse_alike(tmp_path: Path) -> None:
    plan = Plan.from_document({"collect": 1, "budget": "7/2", "columns": {"age": AGE, "job": KRR}})
    rounds = [
        ({"age": 40, "job": "a"}, "00112233445566778899aabbccddeeff"),
        ({"age": 40, "job": "a"}, ""),  # nothing is drawn: it is repeated
        ({"age": 41, "job": "a"}, "0123456789abcdef"),
        ({"age": 42, "job": "b"}, "ff" * 16),  # would cost more than the budget
        ({"age": 41, "job": "a"}, ""),
    ]
    tasks = [{"form": plan.form(), "answers": a, "bytes": b, "ledger": True} for a, b in rounds]
    ledger = AnswerLedger(tmp_path / "mine.json")
    for (given, drawn), done in zip(rounds, ran(tasks), strict=True):
        left = [drawn[at : at + 16] for at in range(0, len(drawn), 16)]
        try:
            sent = answer(plan, given, ledger=ledger, take=partial(_taken, left))
            assert done["sent"] == sent
        except PrivetError:
            assert "complaints" in done
        assert done["ledger"] == ledger.path.read_text(encoding="utf-8")


UNARY = naive.plan_of(job={"type": "category", "values": ["a", "b", "c"], "mechanism": "unary", "epsilon": 1})


def told(**changed: Any) -> str:
    """A ledger as both write it, with one thing changed."""
    asked = canonical({"job": UNARY.columns["job"].document()})
    question = {"column": "job", "mechanism": "unary", "epsilon": 1, "answers": {"0": "b010"}, "rounds": 1}
    document: dict[str, Any] = {"ledger": 1, "budget": 2, "questions": {asked: question}}
    for key, value in changed.items():
        (document if key in document else question)[key] = value
    return json.dumps(document)


DAMAGED = {
    "not json": "{",
    "a list": "[]",
    "another version": told(ledger=2),
    "a column that is not text": told(column=[1]),
    "a mechanism that is not text": told(mechanism=None),
    "an epsilon below 0": told(epsilon="-5"),
    "an epsilon of 0": told(epsilon=0),
    "an epsilon that is not a number": told(epsilon="much"),
    "a budget below 0": told(budget=-1),
    "a budget of 0": told(budget="0"),
    "rounds below 0": told(rounds=-1),
    "rounds that are not whole": told(rounds=1.5),
    "rounds that are true": told(rounds=True),
    "an answer that is not text": told(answers={"0": 5}),
    "an answer to no value": told(answers={"-1": "b010"}),
    "no questions": told(questions=[]),
    "less epsilon than the question says": told(epsilon="1/2"),
    "no epsilon, and the question says one": told(epsilon=None),
    "another mechanism than the question says": told(mechanism="optimised-unary"),
    "another column than the question is about": told(column="age"),
    "a question that is none": told().replace('\\"type\\"', "type"),
}


@pytest.mark.parametrize("why", list(DAMAGED))
def test_a_ledger_that_gives_budget_back_is_refused(why: str, tmp_path: Path) -> None:
    """A negative epsilon in the file paid for later answers; a column that is not text was a crash."""
    plan = naive.plan_of(job=KRR)
    path = tmp_path / "mine.json"
    path.write_text(DAMAGED[why], encoding="utf-8")
    for use in (AnswerLedger(path).spent, partial(answer, plan, {"job": "a"}, ledger=AnswerLedger(path))):
        with pytest.raises(PrivetError, match="this is not a respondent's ledger, or it is damaged"):
            use()
    assert path.read_text(encoding="utf-8") == DAMAGED[why]


def test_the_ledger_that_these_are_made_of_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(told(), encoding="utf-8")
    assert AnswerLedger(path).spent()["spent"] == 1


TRUTH = naive.plan_of(
    age={"type": "number", "low": 0, "high": 9, "mechanism": "as-is"},
    job={"type": "category", "values": ["a", "b"], "mechanism": "randomised-response", "truth": "3/4"},
    size={"type": "number", "low": 0, "high": 9, "mechanism": "uniform", "half_width": 4},
)


def other_ledgers() -> list[str]:
    """What only the plan can tell: the epsilon of a probability, and a text that the client never wrote."""
    drawn = {"job": ("randomised-response", "a"), "size": ("uniform", "3")}
    questions: dict[str, dict[str, Any]] = {
        canonical({name: TRUTH.columns[name].document()}): {
            "column": name,
            "mechanism": mechanism,
            "epsilon": None if name == "size" else written(TRUTH.columns[name].epsilon or Fraction(0)),
            "answers": {"0": text},
            "rounds": 1,
        }
        for name, (mechanism, text) in drawn.items()
    }
    job, size = questions
    texts = ("3e0", " 3 ", "3.0", "+3", "03")
    changes: list[tuple[str, dict[str, Any]]] = [
        (job, {}),
        (job, {"epsilon": "1/1000"}),
        (job, {"epsilon": None}),
        (size, {"epsilon": 1}),
        *((size, {"answers": {"0": text}}) for text in texts),
    ]
    return [
        json.dumps({"ledger": 1, "budget": None, "questions": questions | {asked: questions[asked] | change}})
        for asked, change in changes
    ]


@needs_node
def test_both_clients_compare_a_ledger_with_its_question(tmp_path: Path) -> None:
    given = {"age": 1, "job": "a", "size": 0}
    task = {"form": TRUTH.form(), "answers": given, "ledger": True}
    (fine, *refused) = ran([{**task, "kept": text} for text in other_ledgers()])
    (sound, *damaged) = other_ledgers()
    path = tmp_path / "mine.json"
    path.write_text(sound, encoding="utf-8")
    assert answer(TRUTH, given, ledger=AnswerLedger(path)) == fine["sent"]
    for text, done in zip(damaged, refused, strict=True):
        path.write_text(text, encoding="utf-8")
        assert done["complaints"] == ["this is not a respondent's ledger, or it is damaged"]
        with pytest.raises(PrivetError):
            answer(TRUTH, given, ledger=AnswerLedger(path))
        assert (done["ledger"], path.read_text(encoding="utf-8")) == (text, text)


@needs_node
def test_both_clients_refuse_the_same_ledgers() -> None:
    form = naive.plan_of(job=KRR).form()
    task = {"form": form, "answers": {"job": "a"}, "ledger": True}
    (fine, *refused) = ran([{**task, "kept": text} for text in (told(), *DAMAGED.values())])
    assert "sent" in fine
    for why, done in zip(DAMAGED, refused, strict=True):
        assert done.get("complaints") == ["this is not a respondent's ledger, or it is damaged"], why
        assert done["ledger"] == DAMAGED[why]


@needs_node
def test_both_clients_refuse_alike_and_never_say_the_answer() -> None:
    plan = naive.plan_of(age=AGE, job=KRR)
    bad: list[dict[str, Any]] = [
        {"age": 400, "job": "a"},
        {"age": "4_0", "job": "a"},
        {"age": True, "job": "zqxjkv"},
        {"age": None, "job": ""},
        {"age": 3, "job": "a", "other": 1},
        {"job": "b"},
        {"age": "1e999", "job": ["a"]},
    ]
    for given, done in zip(bad, ran([{"form": plan.form(), "answers": a} for a in bad]), strict=True):
        with pytest.raises(PrivetError) as caught:
            answer(plan, given)
        assert len(done["complaints"]) == len(caught.value.complaints)
        for said in (*done["complaints"], *caught.value.complaints):
            assert "zqxjkv" not in said
            assert "400" not in said


@needs_node
def test_plans_that_hide_nothing_are_refused_by_the_respondent_s_own_client() -> None:
    """The collector is not trusted: a form that says more than it keeps is not answered."""
    bad = [
        {"collect": 1, "columns": {"age": {**AGE, "epsilon": 500}}},
        {"collect": 1, "columns": {"age": {**AGE, "epsilon": 0}}},
        {"collect": 1, "columns": {"age": {**AGE, "mechanism": "none"}}},
        {"collect": 1, "columns": {"job": {**KRR, "epsilon": None, "truth": 1}}},
        {"collect": 2, "columns": {"age": AGE}},
        {"collect": 1, "columns": {"age": {**AGE, "low": "x"}}},
        {"collect": 1, "columns": {"age": {**AGE, "step": "0.0001"}}},
    ]
    for done in ran([{"form": form, "answers": {"age": 1, "job": "a"}} for form in bad]):
        assert done["complaints"]
    many = ran([{"form": naive.plan_of(age=AGE).form(), "answers": {"age": 50}} for _ in range(60)])
    assert len({done["sent"]["answers"]["age"] for done in many}) > 10  # its own randomness


def changed(form: dict[str, Any], column: str | None = None, **said: Any) -> dict[str, Any]:
    """A form with something else in it, or in one of its columns."""
    made: dict[str, Any] = json.loads(json.dumps(form))
    (made if column is None else made["columns"][column]).update(said)
    return made


def forms() -> dict[str, dict[str, Any]]:
    """Forms that a collector may send, good and bad, by what is odd about them."""
    plan = Plan.from_document({"collect": 1, "purpose": "why", "columns": {"age": AGE, "job": KRR}})
    form = plan.form()
    bare = {key: value for key, value in form.items() if key != "digest"}
    odd = dict.fromkeys(("10", "9", "b", "01", "-1", "__proto__", "toString", "🦊", "￠"), KRR)
    return {
        "as written": form,
        "without a digest": bare,
        "in other words": changed(form, "age", low="0.0", high="1e2", epsilon="2/2", outside="refuse"),
        "another purpose": changed(form, purpose="because"),
        "another epsilon, and the old digest": changed(form, "age", epsilon=9),
        "another order of values": changed(form, "job", values=["b", "a", "c"]),
        "a digest that is not text": changed(form, digest=5),
        "names that JavaScript sorts": Plan.from_document({"collect": 1, "columns": odd}).form(),
        "an unknown key": changed(bare, more=1),
        "an unknown key of a column": changed(bare, "age", sigma=1),
        "a purpose of two lines": changed(bare, purpose="a\nb"),
        "a low without an end": changed(bare, "age", low="1/3", high="4/3", step="1/3"),
        "an epsilon that is not exact": changed(bare, "age", epsilon=0.5),
        "a value with blanks around it": changed(bare, "job", values=["a", "b ", "c"]),
        "a value that nobody sees": changed(bare, "job", values=["a", "\u200b", "c"]),
        "truth by chance alone": changed(
            bare, columns={"job": {**{key: KRR[key] for key in KRR if key != "epsilon"}, "truth": "1/3"}}
        ),
        "no columns": changed(bare, columns={}),
        "columns in a list": changed(bare, columns=[AGE]),
        "a budget that one round breaks": changed(bare, budget=1),
        "a budget without end": changed(bare, budget="1e20"),
        "a missing answer that is not a value": changed(bare, "age", missing=0.5),
        "clamped": changed(bare, "age", outside="clamp"),
        "clipped": changed(bare, "age", outside="clip"),
    }


ANSWERS: list[Any] = [
    *(
        "4",
        "\u30004\u00a0",
        "\ufeff4",
        "\x1c4",
        "4\x85",
        "\u200b4",
        "\ufeff",
        "\u2003",
        "1e1",
        "+4",
        "4.",
        "٤",
    ),
    *(4, 4.4, True, None, 1e21, [4], {}),
]


@needs_node
def test_both_clients_say_the_same_of_odd_forms_and_odd_answers() -> None:
    """Each form with a usual answer, and a usual form with each answer: sent alike, or refused by both."""
    fuel = bytes(range(256)).hex()
    usual = {"age": 40}
    asked: list[tuple[Any, dict[str, Any]]] = [
        (form, {str(name): usual.get(str(name), "a") for name in form["columns"]})
        for form in forms().values()
    ]
    asked += [(changed(forms()["clamped"], "age", missing=7), {"age": one, "job": "a"}) for one in ANSWERS]
    asked += [(forms()["as written"], {"age": 4, "job": one}) for one in ("a", " a", "a\u00a0", "A", "", 1)]
    done = ran([{"form": form, "answers": given, "bytes": fuel} for form, given in asked])
    sent = []
    for (form, given), theirs in zip(asked, done, strict=True):
        left = [fuel]

        def take(size: int, left: list[str] = left) -> bytes:
            found, left[0] = left[0][: 2 * size], left[0][2 * size :]
            return bytes.fromhex(found)

        try:
            ours = answer(form, given, take=take)
        except PrivetError:
            assert "complaints" in theirs, (form, given)
            continue
        assert theirs.get("sent") == ours, (form, given)
        sent.append(ours)
    assert len(sent) == 17
    refused = [why for why, theirs in zip(forms(), done, strict=False) if "complaints" in theirs]
    assert "another epsilon, and the old digest" in refused
    assert {"as written", "in other words", "another purpose", "names that JavaScript sorts"}.isdisjoint(
        refused
    )


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    """Whoever read the last of both took another answer, or another plan, than whoever read the first."""
    plan = naive.plan_of(job=KRR)
    for line in ('{"job": "a", "job": "b"}', '{"job": "a", "job": "a"}'):
        with pytest.raises(InputError, match="a key stands twice"):
            perturb_json(plan, io.BytesIO(line.encode()), io.BytesIO())
    twice = f'{{"plan": "{plan.digest}", "answers": {{"job": "a", "job": "b"}}}}'
    with pytest.raises(InputError, match="a key stands twice"):
        read(plan, io.BytesIO(twice.encode()), lines=True)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan.form()).replace('"columns"', '"collect": 1, "columns"'), encoding="utf-8")
    with pytest.raises(PolicyError, match="a key stands twice"):
        Plan.load(path)
