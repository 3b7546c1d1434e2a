"""Differences between two definitions of a tool, and what they mean for its callers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.core.tool import Limits, Retry, ToolSpec
from pegboard.schemas.diff import Change, SchemaChangeKind, schema_changes
from pegboard.schemas.document import canonical, plain

_WORDS = ("title", "description", "category", "tags")
_OPERATORS = ("timeout", "retry", "limits", "max_result_bytes", "credential")
_CLAIMS = (
    *("name", "effect", "destructive", "idempotent", "cacheable", "cache_ttl"),
    *("cache_per_principal", "exclusive", "handler", "source"),
)
"""Fields that callers and policy rely on: every change is breaking. Even an improvement is: an
upstream that now claims to only read would need fewer approvals."""
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


def definition_digest(spec: ToolSpec) -> str:
    """SHA-256 of the compared fields, as hex; equal for definitions without a difference."""
    try:
        return digest_of({field: _value(spec, field) for field in DEFINING})
    except TypeError:  # keys that are no text, which JSON makes text of
        return digest_of(definition_of(spec))


def digest_of(definition: Mapping[str, Any]) -> str:
    """The same of what `definition_of` makes, or would make, of a spec."""
    import hashlib

    return hashlib.sha256(canonical(definition)).hexdigest()


def definition_of(spec: ToolSpec, *, fields: Iterable[str] = ()) -> dict[str, Any]:
    """All that a diff looks at, or these fields of it, as JSON-compatible data."""
    return plain({field: _value(spec, field) for field in (fields or DEFINING)})


def spec_of(definition: Mapping[str, Any]) -> ToolSpec:
    """The spec of which `definition_of` made this; what it does not name is as by default."""
    fields: dict[str, Any] = {name: definition[name] for name in DEFINING if name in definition}
    for field in (*_LISTS, "tags"):
        fields[field] = tuple(fields.get(field, ()))
    if fields.get("retry"):
        retry: dict[str, Any] = dict(fields["retry"])
        retry["on"] = tuple(retry.get("on", ()))
        fields["retry"] = Retry(**retry)
    if fields.get("limits"):
        fields["limits"] = Limits(**fields["limits"])
    return ToolSpec(**fields)


DEFINING = (*_WORDS, *_OPERATORS, *_CLAIMS, *_LISTS, "input_schema", "output_schema")
"""The fields of a spec that are its definition."""


def _changes(old: ToolSpec, new: ToolSpec) -> Iterator[Change]:
    for fields, kind in (
        (_CLAIMS, SchemaChangeKind.BREAKING),
        (_WORDS, SchemaChangeKind.WORDING),
        (_OPERATORS, SchemaChangeKind.ADDITIVE),
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


def _value(spec: ToolSpec, field: str) -> Any:
    """A field as it is; lists that are sets are sorted."""
    value = getattr(spec, field)
    return sorted(value) if field in _SETS else value


_SETS = frozenset({*_LISTS, "tags"})
