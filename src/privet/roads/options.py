"""Options that a call does not have are refused on every road alike, with the near one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from privet.errors import OptionError, unknown_option
from privet.policy.values import Policy

P = ParamSpec("P")
R = TypeVar("R")


def options(call: Callable[..., Any], policy: Policy, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a road's call is asked besides; an option that it does not declare is refused on every road."""
    declared = [
        name
        for name, one in signature(call).parameters.items()
        if one.kind is Parameter.KEYWORD_ONLY and name != "engine"
    ]
    wrong = [unknown_option(declared, name) for name in asked if name not in declared]
    if wrong:
        of = policy.kind if policy.algorithm.road is None else policy.algorithm.name
        raise OptionError(*(f"{call.__name__} of {of}: {complaint}" for complaint in wrong))
    return dict(asked)


def with_known_options(call: Callable[P, R]) -> Callable[P, R]:
    """A call that answers an option which it does not have as the roads do, with the near one."""
    known = list(signature(call).parameters)

    @wraps(call)
    def called(*given: P.args, **asked: P.kwargs) -> R:
        if wrong := [unknown_option(known, name) for name in asked if name not in known]:
            raise OptionError(*(f"{call.__name__}: {complaint}" for complaint in wrong))
        return call(*given, **asked)

    return called
