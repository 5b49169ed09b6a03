"""A plan is valid or it does not exist, and says everything that is wrong at once."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.collect import naive

from privet.collect import Plan
from privet.errors import InputError, PolicyError

AGE = {"type": "number", "low": 0, "high": 100, "mechanism": "laplace", "epsilon": 1}
JOB = {"type": "category", "values": ["a", "b", "c"], "mechanism": "unary", "epsilon": "1/2"}


def complaints(document: Any) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        Plan.from_document(document)
    return list(caught.value.complaints)


def about(**changed: Any) -> list[str]:
    """What is wrong with AGE if it is changed so."""
    table = {key: value for key, value in {**AGE, **changed}.items() if value is not None}
    return complaints({"collect": 1, "columns": {"age": table}})


def test_every_complaint_at_once_with_its_place_and_its_fix() -> None:
    wrong = complaints(
        {
            "collect": 2,
            "budgett": 3,
            "columns": {
                "age": {**AGE, "epsilon": 0.5, "stepp": 1, "outside": "drop"},
                "job": {**JOB, "values": ["a", "a", " b"], "mechanism": "randomized"},
                "pay": {"type": "numeric"},
                "town": {
                    "type": "category",
                    "values": ["x", "x", " y"],
                    "mechanism": "unary",
                    "epsilon": "x",
                },
            },
        }
    )
    assert wrong == [
        "budgett: unknown key; did you mean budget?",
        "the first line must be `collect = 1`",
        "columns.age: stepp: unknown key; did you mean step?",
        'columns.age: epsilon: write "0.5" in quotes, so that it is exact',
        "columns.age: outside is one of refuse, clamp, not 'drop'",
        (
            "columns.job: mechanism is one of randomised-response, k-randomised-response, unary, "
            "optimised-unary, as-is, not 'randomized'"
        ),
        "columns.pay: type is one of number, category, not 'numeric'; did you mean number?",
        """columns.town: epsilon: is an exact number such as 5, "0.2" or "1/5", not 'x'""",
        "columns.town: values: each is printable text, not empty, without spaces around it",
        "columns.town: values: each is there once",
    ]


def test_noise_larger_than_the_domain() -> None:
    assert about(mechanism="uniform", epsilon=None, half_width=101) == [
        "columns.age: half_width: the noise is larger than the domain, which is 100 wide"
    ]
    assert about(mechanism="gaussian", epsilon=None, sigma=101) == [
        "columns.age: sigma: the noise is larger than the domain, which is 100 wide"
    ]
    (said,) = about(epsilon=None, scale=101)
    assert said.endswith("which is 100 wide; for more privacy than that say epsilon")
    assert naive.plan_of(age={**AGE, "epsilon": "1/2"}).columns["age"].epsilon == Fraction(1, 2)


def test_noise_without_variance() -> None:
    for mechanism, key in (("uniform", "half_width"), ("gaussian", "sigma"), ("laplace", "scale")):
        for size in (0, -3):
            assert about(mechanism=mechanism, epsilon=None, **{key: size}) == [
                f"columns.age: {key}: is above 0; noise without variance hides nothing"
            ]
    assert about(epsilon=0) == ["columns.age: epsilon: is from 1/1000 to 20, not 0"]
    (said,) = about(mechanism="gaussian", epsilon=None, sigma="0.1")
    assert "less than a quarter of a step" in said


def test_domains_that_are_none() -> None:
    assert about(high=0) == ["columns.age: high: is above low; a single value needs no question"]
    assert about(low=None) == ["columns.age: low is missing"]
    assert "not a whole number of steps" in about(step=3)[0]
    assert "makes more than 131,072 values" in about(step="0.0001")[0]
    assert "decimal number" in about(high="100/3")[0]
    assert about(high=10**16)[0].startswith("columns.age: high: is at most 1,000,000,000,000,000")
    assert about(step=0) == ["columns.age: step: is above 0"]
    assert about(mechanism="uniform", epsilon=None, half_width="0.5") == [
        "columns.age: half_width: is a whole number of steps of 1"
    ]


def test_parameters_one_and_only_one() -> None:
    assert about(scale=3) == ["columns.age: say one of epsilon and scale, and only one"]
    assert about(mechanism="gaussian") == [
        (
            "columns.age: epsilon: unknown key; known are type, low, high, step, "
            "mechanism, missing, outside, sigma"
        ),
        "columns.age: sigma is missing",
    ]


def test_categories() -> None:
    def wrong(**changed: Any) -> list[str]:
        table = {key: value for key, value in {**JOB, **changed}.items() if value is not None}
        return complaints({"collect": 1, "columns": {"job": table}})

    assert wrong(values=["a"]) == ["columns.job: values: are from 2 to 1,024, not 1"]
    assert "randomised-response has two values" in wrong(mechanism="randomised-response")[0]
    krr = {"mechanism": "k-randomised-response", "epsilon": None}
    assert "nothing could be learned" in wrong(**krr, truth="1/3")[0]
    assert "hides nothing" in wrong(**krr, truth="0.999999999999")[0]
    assert wrong(**krr, truth=1) == ["columns.job: truth: is a probability above 0 and below 1, not 1"]
    assert wrong(missing="d") == [
        "columns.job: missing: is one of the column's own values, which stands for no answer"
    ]
    assert wrong(missing="")[0].endswith("which stands for no answer")


def test_a_budget_that_the_first_round_breaks() -> None:
    noisy = {**AGE, "mechanism": "gaussian", "sigma": 10}
    del noisy["epsilon"]
    assert complaints({"collect": 1, "budget": 1, "columns": {"age": AGE, "job": JOB}}) == [
        "budget: one round costs 1.5 already, which is more than 1"
    ]
    assert complaints({"collect": 1, "budget": 5, "columns": {"age": noisy}}) == [
        "budget: age has no finite epsilon with gaussian noise, so no budget can hold it"
    ]


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"collect": True, "columns": {"age": AGE}},
        {"collect": 1},
        {"collect": 1, "columns": []},
        {"collect": 1, "columns": {"": AGE}},
        {"collect": 1, "columns": {"a\nb": AGE}},
        {"collect": 1, "columns": {"age": None}},
        {"collect": 1, "columns": {"age": {**AGE, "type": ["number"]}}},
        {"collect": 1, "columns": {"age": {**AGE, "mechanism": {}}}},
        {"collect": 1, "columns": {"age": {**AGE, "low": "nan"}}},
        {"collect": 1, "columns": {"age": {**AGE, "low": "1e99999"}}},
        {"collect": 1, "columns": {"age": {**AGE, "epsilon": "9" * 10_000}}},
        {"collect": 1, "columns": {"age": {**AGE, "epsilon": "1/0"}}},
        {"collect": 1, "columns": {"age": {**AGE, "high": True}}},
        {"collect": 1, "purpose": 3, "columns": {"age": AGE}},
        {"collect": 1, "purpose": "a\x1b[31m", "columns": {"age": AGE}},
        {"collect": 1, "budget": [], "columns": {"age": AGE}},
        {"collect": 1, "columns": {"job": {**JOB, "values": "abc"}}},
        {"collect": 1, "columns": {"job": {**JOB, "values": [1, 2]}}},
        {"collect": 1, "columns": {"job": {**JOB, "values": ["a", "\x00"]}}},
        {"collect": 1, "columns": {"job": {**JOB, "values": [f"v{n}" for n in range(2000)]}}},
    ],
)
def test_hostile_documents_are_refused_and_nothing_else_happens(document: Any) -> None:
    assert complaints(document)


@given(st.integers(0, 10**6), st.sampled_from(naive.MECHANISMS))
def test_a_plan_is_read_again_as_it_was_written(seed: int, mechanism: str) -> None:
    chance = random.Random(seed)
    plan = naive.plan_of(a=naive.random_column(chance, mechanism), b=naive.random_column(chance, "krr"))
    again = Plan.from_document(json.loads(json.dumps(plan.form())))
    assert again == plan
    assert again.digest == plan.digest
    for column in plan.columns.values():
        texts = [column.output_text(at) for at in range(column.channel.outputs)]
        if not mechanism.endswith("unary") or column.name == "b":
            assert [column.output(text) for text in texts] == list(range(column.channel.outputs))
            assert len(set(texts)) == len(texts)
        codes = [column.code(column.input_text(at)) for at in range(column.channel.inputs)]
        assert codes == list(range(column.channel.inputs))


def test_a_form_that_was_changed_is_refused() -> None:
    form = naive.plan_of(age=AGE).form()
    form["columns"]["age"]["epsilon"] = 2
    assert complaints(form) == [
        "digest: this form was changed after it was made; ask the collector for it again"
    ]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for name, text, said in (
        ("a.toml", b"collect = ", "a.toml: "),
        ("b.json", b"{", "line 1, column 2: this is not JSON"),
        ("c.toml", b"\xff\xfe", "this is not a text file"),
        ("d.json", b"[" * 100_000, "nested too deep"),
    ):
        path = tmp_path / name
        path.write_bytes(text)
        with pytest.raises(PolicyError, match=said):
            Plan.load(path)
    with pytest.raises(PolicyError, match="no such file; `privet collect init` drafts one"):
        Plan.load(tmp_path / "none.toml")


def test_numbers_are_rounded_to_the_grid_and_only_within_the_bounds() -> None:
    column = naive.plan_of(age={**AGE, "step": 5}).columns["age"]
    for answer, code in ((0, 0), ("2.4", 0), ("2.5", 1), (7.6, 2), (100, 20), ("1e2", 20), (" 50 ", 10)):
        assert column.code(answer) == code
    refused: list[object] = [-0.1, "100.01", "abc", "1_0", "nan", float("inf"), True, [1], "9" * 50, "٣"]
    for wrong in refused:
        with pytest.raises(InputError) as caught:
            column.code(wrong)
        assert str(wrong) not in str(caught.value)
    clamped = naive.plan_of(age={**AGE, "outside": "clamp", "missing": 50}).columns["age"]
    assert (clamped.code(-5), clamped.code(10**9), clamped.code(None), clamped.code("  ")) == (0, 100, 50, 50)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bb",
        "b01",
        "b0112",
        "0110",
        "b01x",
        3,
        3.0,
        None,
        "d",
        "3e0",
        " 3 ",
        "3.0",
        "+3",
        "03",
        "3.",
        "999999",
    ],
)
def test_answers_that_no_client_sends_are_refused(text: object) -> None:
    plan = naive.plan_of(job=JOB, krr={**JOB, "mechanism": "k-randomised-response"}, age=AGE)
    for column in plan.columns.values():
        with pytest.raises(InputError, match="is not an answer that this plan's mechanism gives"):
            column.output(text)
