"""Differences between two definitions of a tool, and what they mean for its callers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.core.tool import ToolSpec
from pegboard.schemas.diff import Change, SchemaChangeKind, schema_changes
from pegboard.schemas.tool_definition import CLAIMS, OPERATORS, WORDS, definition_of

_LISTS: Mapping[str, tuple[SchemaChangeKind, SchemaChangeKind]] = {
    "capabilities": (SchemaChangeKind.ADDITIVE, SchemaChangeKind.BREAKING),
    "dependencies": (SchemaChangeKind.BREAKING, SchemaChangeKind.ADDITIVE),
    "scopes": (SchemaChangeKind.BREAKING, SchemaChangeKind.ADDITIVE),
}
"""The meaning of an added and of a removed item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionDiff:
    """All differences, each with its path."""

    changes: tuple[Change, ...] = ()

    @property
    def kind(self) -> SchemaChangeKind | None:
        """The most serious kind of change; None when there is none."""
        kinds = {change.kind for change in self.changes}
        return next(
            (
                k
                for k in (
                    SchemaChangeKind.BREAKING,
                    SchemaChangeKind.ADDITIVE,
                    SchemaChangeKind.WORDING,
                )
                if k in kinds
            ),
            None,
        )

    def of_kind(self, kind: SchemaChangeKind) -> tuple[Change, ...]:
        """The changes of one kind."""
        return tuple(change for change in self.changes if change.kind is kind)

    def __str__(self) -> str:
        return "; ".join(map(str, self.changes)) or "no change"


def definition_diff(old: ToolSpec, new: ToolSpec) -> DefinitionDiff:
    """How `new` differs from `old`; versions, ids and statuses are not compared."""
    return DefinitionDiff(changes=tuple(_changes(old, new)))


def _changes(old: ToolSpec, new: ToolSpec) -> Iterator[Change]:
    for fields, kind in (
        (CLAIMS, SchemaChangeKind.BREAKING),
        (WORDS, SchemaChangeKind.WORDING),
        (OPERATORS, SchemaChangeKind.ADDITIVE),
    ):
        before_of, after_of = (definition_of(spec, fields=fields) for spec in (old, new))
        for field in fields:
            before, after = before_of[field], after_of[field]
            if before != after or type(before) is not type(after):
                yield Change(place=field, kind=kind, before=before, after=after)
    for field, (more, less) in _LISTS.items():
        before, after = getattr(old, field), getattr(new, field)
        for item in sorted(set(after) - set(before)):
            yield Change(place=f"{field}.{item}", kind=more, after=item)
        for item in sorted(set(before) - set(after)):
            yield Change(place=f"{field}.{item}", kind=less, before=item)
    yield from schema_changes("input_schema", old.input_schema, new.input_schema, direction="input")
    yield from _output(old.output_schema, new.output_schema)


def _output(old: Any, new: Any) -> Iterator[Change]:
    if old is None or new is None:
        if old is not new:
            kind = SchemaChangeKind.ADDITIVE if old is None else SchemaChangeKind.BREAKING
            yield Change(place="output_schema", kind=kind, before=old, after=new)
        return
    yield from schema_changes("output_schema", old, new, direction="output")
