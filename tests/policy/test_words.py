"""What is wrong with a promise or a search is said as policies write it. Issue 13, line 12."""

from __future__ import annotations

from dataclasses import MISSING
from fractions import Fraction
from typing import Any, get_args, get_type_hints

import pytest

from privet import registry
from privet.errors import PrivetError
from privet.models.template import Sensitive
from privet.policy.notation import build, written

USUAL: dict[Any, Any] = {int: 2, Fraction: "1/2", Sensitive: {"s": ["a"]}, Fraction | None: "1/2", str: "s"}


@pytest.mark.parametrize("kind", ["models", "algorithms"])
def test_no_number_is_shown_as_python_shows_it(kind: str) -> None:
    refused: list[str] = []
    for name in registry.installed(kind):
        made = registry.find(kind, name)
        hints = get_type_hints(made)
        needed = {
            one.name: USUAL.get(hints[one.name], ["s"])
            for one in written(made)
            if one.default is MISSING and one.default_factory is MISSING
        }
        for one in written(made):
            if Fraction not in {hints[one.name], *get_args(hints[one.name])}:
                continue
            for wrong in ("-1/3", "0", "7/3"):
                try:
                    build(kind, {"type": name, **needed, one.name: wrong})
                except PrivetError as error:
                    refused.append(f"{name}: {error}")
    assert len(refused) > 5
    assert not [said for said in refused if "Fraction(" in said]
