"""The definition of a tool as data, and its digest."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from pegboard.core.tool import Limits, Retry, ToolSpec
from pegboard.schemas.document import canonical, plain

WORDS = ("title", "description", "category", "tags")
OPERATORS = ("timeout", "retry", "limits", "max_result_bytes", "credential")
CLAIMS = (
    *("name", "effect", "destructive", "idempotent", "cacheable", "cache_ttl"),
    *("cache_per_principal", "exclusive", "handler", "source"),
)
"""Fields that callers and policy rely on: every change is breaking. Even an improvement is: an
upstream that now claims to only read would need fewer approvals."""
LISTS = ("capabilities", "dependencies", "scopes")
DEFINING = (*WORDS, *OPERATORS, *CLAIMS, *LISTS, "input_schema", "output_schema")
"""The fields of a spec that are its definition."""
_SETS = frozenset({*LISTS, "tags"})


def definition_digest(spec: ToolSpec) -> str:
    """SHA-256 of the compared fields, as hex; equal for definitions without a difference."""
    try:
        return digest_of({field: _value(spec, field) for field in DEFINING})
    except TypeError:  # keys that are no text, which JSON makes text of
        return digest_of(definition_of(spec))


def digest_of(definition: Mapping[str, Any]) -> str:
    """The same of what `definition_of` makes, or would make, of a spec."""
    return hashlib.sha256(canonical(definition)).hexdigest()


def definition_of(spec: ToolSpec, *, fields: Iterable[str] = ()) -> dict[str, Any]:
    """All that a diff looks at, or these fields of it, as JSON-compatible data."""
    return plain({field: _value(spec, field) for field in (fields or DEFINING)})


def spec_of(definition: Mapping[str, Any]) -> ToolSpec:
    """The spec of which `definition_of` made this; what it does not name is as by default."""
    fields: dict[str, Any] = {name: definition[name] for name in DEFINING if name in definition}
    for field in (*LISTS, "tags"):
        fields[field] = tuple(fields.get(field, ()))
    if fields.get("retry"):
        retry: dict[str, Any] = dict(fields["retry"])
        retry["on"] = tuple(retry.get("on", ()))
        fields["retry"] = Retry(**retry)
    if fields.get("limits"):
        fields["limits"] = Limits(**fields["limits"])
    return ToolSpec(**fields)


def _value(spec: ToolSpec, field: str) -> Any:
    """A field as it is; lists that are sets are sorted."""
    value = getattr(spec, field)
    return sorted(value) if field in _SETS else value
