"""The differences of two JSON Schemas, with their effect on callers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, cast

from pegboard.schemas.compatibility import schema_fits
from pegboard.schemas.document import SchemaDocument, canonical

Direction = Literal["input", "output"]

_WORDS = frozenset({"title", "description", "examples", "$comment", "default", "deprecated"})
_BY_NAME = ("properties", "patternProperties", "$defs", "definitions")
_INNER = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_ABSENT: Any = object()


class SchemaChangeKind(StrEnum):
    """The effect of a change on the users of a tool.

    `wording` changes what a model reads and nothing that is enforced; after an `additive` change
    everything works as before; every other change is `breaking`.
    """

    WORDING = "wording"
    ADDITIVE = "additive"
    BREAKING = "breaking"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference.

    Attributes:
        place: Where: `description`, `input_schema.properties.lang`, ...
        before: What was there; None for nothing.
        after: What is there; None for nothing.
    """

    place: str
    kind: SchemaChangeKind
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.place}: added ({self.kind.value})"
        if self.after is None:
            return f"{self.place}: removed ({self.kind.value})"
        return f"{self.place}: changed ({self.kind.value})"


def schema_changes(place: str, old: Any, new: Any, *, direction: Direction) -> list[Change]:
    """Every difference of two schemas, in order.

    A change is additive if the input certainly gets wider, or the output narrower. A removed
    property is breaking even where other properties are allowed: the tool would ignore it.

    Args:
        place: What the whole is called.
        old: JSON Schema.
        new: JSON Schema.
        direction: Whether this is what a tool takes or what it gives.
    """
    if _same(old, new):  # most definitions change elsewhere, and reading a schema takes its time
        return []
    found = list(_SchemaWalk(direction, old, new).between(place, old, new))
    enforced = [change for change in found if change.kind is not SchemaChangeKind.WORDING]
    if not enforced:
        return found
    if _is_safe(direction, old, new):
        return [c if _is_a_loss(c) else _as(SchemaChangeKind.ADDITIVE, c) for c in found]
    if all(change.kind is SchemaChangeKind.ADDITIVE for change in enforced):
        # each part alone looks harmless, but not all of them together
        return [_as(SchemaChangeKind.BREAKING, change) for change in found]
    return found


def _as(kind: SchemaChangeKind, change: Change) -> Change:
    return change if change.kind is SchemaChangeKind.WORDING else replace(change, kind=kind)


def _is_a_loss(change: Change) -> bool:
    steps = change.place.split(".")
    return change.after is None and len(steps) > 1 and steps[-2] == "properties"


def _is_safe(direction: Direction, old: Any, new: Any) -> bool:
    """Whether users of the old schema can use the new one, with objects taken as closed."""
    if direction == "input":
        return schema_fits(old, new, closed=True).is_certain
    return schema_fits(new, old).is_certain


class _SchemaWalk:
    """One comparison of two documents."""

    def __init__(self, direction: Direction, old: Any, new: Any) -> None:
        self._direction: Direction = direction
        self._documents = SchemaDocument(old), SchemaDocument(new)

    def between(self, place: str, old: Any, new: Any) -> Iterator[Change]:
        """The differences of two schemas at this place."""
        if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
            if old is not new:
                yield self._change(place, old, new, old, new)
            return
        first, second = cast("Mapping[str, Any]", old), cast("Mapping[str, Any]", new)
        for key in dict.fromkeys([*first, *second]):
            before, after = first.get(key, _ABSENT), second.get(key, _ABSENT)
            if _same(before, after):
                continue
            inside = f"{place}.{key}"
            if key in _WORDS:
                yield Change(
                    place=inside,
                    kind=SchemaChangeKind.WORDING,
                    before=_none_if_absent(before),
                    after=_none_if_absent(after),
                )
            elif key in _BY_NAME and all(map(_is_named, (before, after))):
                yield from self._by_name(inside, before, after, first)
            elif key in _INNER and _ABSENT not in (before, after):
                yield from self.between(inside, before, after)
            elif key == "required":
                yield from self._compare_required(inside, before, after)
            else:
                yield self._change(inside, before, after, first, second)

    def _by_name(
        self, place: str, old: Any, new: Any, owner: Mapping[str, Any]
    ) -> Iterator[Change]:
        before = cast("dict[str, Any]", {} if old is _ABSENT else old)
        after = cast("dict[str, Any]", {} if new is _ABSENT else new)
        is_library = place.endswith(("$defs", "definitions"))
        for name in dict.fromkeys([*before, *after]):
            inside = f"{place}.{name}"
            if name in before and name in after:
                if not _same(before[name], after[name]):
                    yield from self.between(inside, before[name], after[name])
            else:
                is_fine = name in after and (self._direction == "input" or not _is_closed(owner))
                # a definition that comes or goes is used somewhere else, which is told there
                kind = (
                    SchemaChangeKind.ADDITIVE
                    if is_fine or is_library
                    else SchemaChangeKind.BREAKING
                )
                yield Change(
                    place=inside, kind=kind, before=before.get(name), after=after.get(name)
                )

    def _compare_required(self, place: str, old: Any, new: Any) -> Iterator[Change]:
        before = cast("list[str]", [] if old is _ABSENT else old)
        after = cast("list[str]", [] if new is _ABSENT else new)
        more, less = (
            (SchemaChangeKind.BREAKING, SchemaChangeKind.ADDITIVE)
            if self._direction == "input"
            else (SchemaChangeKind.ADDITIVE, SchemaChangeKind.BREAKING)
        )
        for name in _beyond(after, before):
            yield Change(place=f"{place}.{name}", kind=more, after=True)
        for name in _beyond(before, after):
            yield Change(place=f"{place}.{name}", kind=less, before=True)

    def _change(self, place: str, before: Any, after: Any, old: Any, new: Any) -> Change:
        """A change of one keyword: additive if the parts that it stands in stay compatible."""
        first, second = self._documents
        whole = (first.extract(old), second.extract(new))
        is_known = None not in whole and not (first.fault or second.fault)
        is_safe = is_known and _is_safe(self._direction, *whole)
        kind = SchemaChangeKind.ADDITIVE if is_safe else SchemaChangeKind.BREAKING
        return Change(
            place=place, kind=kind, before=_none_if_absent(before), after=_none_if_absent(after)
        )


def _beyond(names: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """The names that are not among the others; there may be thousands of both."""
    known = {name for name in others if isinstance(name, str)}
    return [name for name in names if not isinstance(name, str) or name not in known]


def _is_closed(schema: Mapping[str, Any]) -> bool:
    return schema.get("additionalProperties") is False


def _is_named(value: Any) -> bool:
    return value is _ABSENT or isinstance(value, Mapping)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: `true` is not 1."""
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return canonical(one) == canonical(other)


def _none_if_absent(value: Any) -> Any:
    return None if value is _ABSENT else value
