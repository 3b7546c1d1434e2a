"""What makes two calls of a tool the same: the values it would see, not how they were written."""

import dataclasses
import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from pegboard.core.event import digest_of
from pegboard.core.tool import ToolSpec
from pegboard.execution.call_state import CallState

_WRITTEN = frozenset({"datetime", "decimal", "ipaddress", "pathlib", "uuid"})
"""Modules of types whose text is all there is to say of a value."""


class _Foreign(Exception):
    """A value of which nobody knows what makes two of them the same."""


def fingerprint_of(spec: ToolSpec) -> Callable[[CallState], str]:
    """Digests the validated arguments of a call of this tool.

    `{"n": "1"}`, `{"n": 1}` and `{"n": 1.0}` are one call, and so is `{}` where the schema says
    that 1 is the default of `n`. Where an argument is of a type that has no JSON, the arguments
    count as they arrived.
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
    """The value as JSON; nothing is left out, secrets neither: only a digest is made of it."""
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
    """What a model, a dataclass or a named tuple holds."""
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
