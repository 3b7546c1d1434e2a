"""Fingerprints of calls: equal when the tool would see the same values."""

import dataclasses
import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from pegboard.core.event import digest_of
from pegboard.core.tool import ToolSpec
from pegboard.execution.call_state import CallState

_WRITTEN = frozenset({"datetime", "decimal", "ipaddress", "pathlib", "uuid"})
"""Modules of types whose text identifies a value."""


class _Foreign(Exception):
    """A value of a type without a known identity."""


def fingerprint_of(spec: ToolSpec) -> Callable[[CallState], str]:
    """A function that digests the validated arguments of a call of this tool.

    `{"n": "1"}`, `{"n": 1}` and `{"n": 1.0}` have one fingerprint, and so has `{}` where the schema
    gives 1 as the default of `n`. Where an argument is of a type without a JSON form, the raw
    arguments are digested.
    """
    properties = cast("Mapping[str, Any]", spec.input_schema.get("properties") or {})
    defaults = {
        name: _plain(node["default"])
        for name, node in properties.items()
        if isinstance(node, Mapping) and "default" in node
    }

    def fingerprint(call: CallState) -> str:
        try:
            values = cast("dict[str, Any]", _plain(call.arguments))
        except (_Foreign, RecursionError):
            return digest_of(call.raw)
        return digest_of(defaults | values)

    return fingerprint


def _plain(value: Any) -> Any:
    """The value as JSON, secrets included: only a digest is made of it."""
    if value is None or isinstance(value, (bool, str)):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {_key(name): _plain(item) for name, item in items}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast("Iterable[Any]", value)]
    return _rare(value)


def _rare(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if isinstance(value, int):
        return value
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, (set, frozenset)):
        # in an order that is the same in every process
        return sorted(digest_of([_plain(item)]) for item in cast("Iterable[Any]", value))
    if type(value).__module__.partition(".")[0] in _WRITTEN:
        return str(value)
    if hasattr(value, "get_secret_value"):
        return _plain(value.get_secret_value())
    return _fields(value)


def _fields(value: Any) -> Any:
    """The fields of a model, a dataclass or a named tuple."""
    kind = cast("type[Any]", type(value))
    names = getattr(kind, "__pydantic_fields__", None)
    if names is None:
        if not dataclasses.is_dataclass(kind):
            raise _Foreign
        names = [field.name for field in dataclasses.fields(kind)]
    held = {name: _plain(getattr(value, name)) for name in cast("Iterable[str]", names)}
    extra: Mapping[str, Any] = getattr(value, "__pydantic_extra__", None) or {}
    return held | {name: _plain(item) for name, item in extra.items()}


def _key(name: Any) -> str:
    plain = _plain(name)
    return plain if isinstance(plain, str) else f"{type(name).__name__} {plain}"
