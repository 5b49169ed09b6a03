"""Linkage of documents: somebody knows the root of a person's tree, its shape, or all that is not sensitive.

The trees that look the same are counted here by writing each out, children in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.promised import Bound, tightest
from privet.attackers.scene import Scene
from privet.attackers.unpacked import files
from privet.core import Role
from privet.document.forest import Vertex
from privet.document.schema import Schema
from privet.evidence.values import DOCUMENTS
from privet.roads.documents.data import read_again
from privet.roads.documents.shape import DocumentShape

Form: TypeAlias = tuple[Any, ...]


class TreeLinkage:
    """Who knows a person's tree, or a part of it, looks for the trees that look the same."""

    name: ClassVar[str] = "tree-linkage"
    assumes: ClassVar[str] = (
        "knows that a person is in the release, and the published tree but for its secrets"
    )
    needs: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = (DOCUMENTS,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        policy: Any = scene.target.policy
        shape: DocumentShape = policy.shape
        with files(scene.target) as (folder, notes):
            trees = list(read_again(folder, notes, policy, scene.engine))
        if not trees:
            raise NotTriedError("there is no document")
        return [
            _tried(scene, what, [form(tree, shape.schema) for tree in trees])
            for what, form in (("root", _root), ("shape", _shape), ("tree", _tree))
        ]


def _quasi(vertex: Vertex, schema: Schema) -> Form:
    fields = schema.kind(vertex.type).published
    return tuple(
        value for field, value in zip(fields, vertex.values, strict=True) if field.role is Role.QUASI
    )


def _written(vertex: Vertex, told: Callable[[Vertex, int], Form], depth: int = 0) -> Form:
    below = sorted((_written(child, told, depth + 1) for child in vertex.children), key=repr)
    return (vertex.type, told(vertex, depth), tuple(below))


def _root(vertex: Vertex, schema: Schema) -> Form:
    return (vertex.type, _quasi(vertex, schema))


def _shape(vertex: Vertex, schema: Schema) -> Form:
    return _written(vertex, lambda one, depth: () if depth else _quasi(one, schema))


def _tree(vertex: Vertex, schema: Schema) -> Form:
    return _written(vertex, lambda one, _: _quasi(one, schema))


def _tried(scene: Scene, what: str, forms: Sequence[Form]) -> Outcome:
    rng = scene.rng()
    times = Counter(forms)
    sizes = np.array([times[form] for form in forms])
    who = rng.integers(len(forms), size=scene.trials)
    ks = [model.class_size or 0 for model in scene.target.policy.models]
    names = [model.name for model in scene.target.policy.models]
    bound = tightest(
        Bound(Fraction(1, k), name) if k > 1 else None for k, name in zip(ks, names, strict=True)
    )
    worst = Fraction(1, int(sizes.min()))
    return Outcome(
        attack=TreeLinkage.name,
        goal=f"the document of a person whose {what} is known",
        tried=scene.trials,
        succeeded=int((rng.random(scene.trials) < 1 / sizes[who]).sum()),
        baseline=1 / len(forms),
        worst=float(worst),
        allowed=None if bound is None else float(bound.at_most),
        promise="" if bound is None else bound.promise,
    ).judge(beyond=bound is not None and bound.broken_by(worst))
