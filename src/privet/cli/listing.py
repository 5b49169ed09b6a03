"""`privet list`: what is installed."""

from __future__ import annotations

from typing import Any

from privet.cli import screen
from privet.cli.options import Json

LISTED = ("models", "algorithms", "engines", "attacks")


def show(*, json: Json = False) -> int:
    """What is installed: what a policy, an option or a command can name, with one line each.

    Plug-ins add models, algorithms, engines and attacks; they are marked.

    Example:
      privet list

    Next: `privet init DATA` drafts a policy that names some of them.

    """
    found = installed()
    if json:
        screen.answer(found)
        return 0
    for kind, things in found.items():
        screen.say(screen.paint(kind, "strong"))
        rows = [
            (thing["name"], thing["summary"] + (" (plug-in)" if thing.get("plugin") else ""))
            for thing in things
        ]
        screen.say(*screen.table(rows), "")
    return 0


def installed() -> dict[str, list[dict[str, Any]]]:
    """Everything that has a name, by kind."""
    from privet import disguise, hierarchy, registry
    from privet.policy.presets import Preset
    from privet.policy.presets import names as preset_names
    from privet.samples import SAMPLES

    found = {kind: [_noted(thing) for thing in registry.installed(kind).values()] for kind in LISTED}
    kinds = [getattr(hierarchy, name) for name in hierarchy.__all__]
    found["presets"] = [{"name": name, "summary": Preset.find(name).title} for name in preset_names()]
    found["hierarchies"] = _described([kind for kind in kinds if isinstance(kind, type)])
    found["disguises"] = _described([disguise.Pseudonym, disguise.Hash, disguise.Mask, disguise.Shift])
    found["measures"] = _measures()
    found["samples"] = [
        *({"name": sample.name, "summary": sample.description} for sample in SAMPLES.values()),
        {
            "name": "adult",
            "summary": "the UCI Adult census files, converted: privet sample adult --from FILE",
        },
    ]
    return found


def _noted(thing: Any) -> dict[str, Any]:
    try:
        summary = _sentence(thing.summary)
    except Exception as error:  # noqa: BLE001 - a plug-in that cannot be loaded must not hide the others
        summary = f"cannot be loaded ({type(error).__name__})"
    return {"name": thing.name, "summary": summary, "plugin": thing.plugin}


def _described(kinds: list[Any]) -> list[dict[str, Any]]:
    return [
        {"name": kind.name, "summary": _sentence(kind.__doc__ or "")}
        for kind in sorted(kinds, key=lambda kind: str(kind.name))
    ]


def _measures() -> list[dict[str, Any]]:
    """The measures' own modules, each by its first line."""
    from importlib import import_module
    from pkgutil import iter_modules

    from privet import measure

    names = sorted(
        module.name for module in iter_modules(measure.__path__) if not module.name.startswith("_")
    )
    modules = {name: import_module(f"{measure.__name__}.{name}") for name in names}
    return [{"name": name, "summary": _sentence(module.__doc__ or "")} for name, module in modules.items()]


def _sentence(text: str) -> str:
    """The first sentence of a docstring, on one line."""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return paragraph.split(". ")[0].removesuffix(".")
