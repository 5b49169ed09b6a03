"""What evidence says of documents: what is left at each depth, how far values moved, one class drawn."""

from __future__ import annotations

from collections.abc import Mapping

from privet.evidence.part import Label, Part, inside, part, stated, verified


@part
class Vertices(Part):
    """How many there were, and how many there are."""

    before: int = stated()
    after: int = verified()


@part
class LevelNote(Part):
    """The vertices of a type at a depth."""

    level: int = verified()
    type: str = verified()
    before: int = stated()
    after: int = verified()


@part
class DrawnLabel(Part):
    """A field of a drawn vertex; its label only where it was generalised to."""

    field: str = stated()
    loss: float = stated()
    label: Label = stated(default=None)


@part
class DrawnSensitive(Part):
    """A sensitive field of a drawn vertex: how many different values the class has there."""

    field: str = stated()
    different: int = stated()


@part
class DrawnVertex(Part):
    """A vertex of the picture."""

    type: str = stated()
    labels: tuple[DrawnLabel, ...] = stated()
    parent: int | None = stated(default=None)
    sensitive: DrawnSensitive | None = stated(default=None)


@part
class Drawn(Part):
    """One class, or group, as a picture without a value."""

    records: int = stated()
    style: str | None = stated(default=None)  # in two halves
    vertices: tuple[DrawnVertex, ...] = stated()


@part
class DocumentsNote(Part):
    """What became of the trees."""

    form: str = stated()
    vertices: Vertices = inside()
    levels: tuple[LevelNote, ...] = inside()
    divergence: Mapping[str, float | None] = stated()  # in nats; None: no value is left
    drawn: Drawn | None = stated()

    @property
    def left(self) -> dict[tuple[int, str], int]:
        """How many vertices the release has, by level and type; those that it has."""
        return {(one.level, one.type): one.after for one in self.levels if one.after}
