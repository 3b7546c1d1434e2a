"""Coercion of arguments: the few lenient readings that models need.

A value is converted only where strict validation refused it, and at most once:

| found | expected | converted to |
|---|---|---|
| `"5"`, `"5.0"`, `5.0` | integer | `5` |
| `"1.5"` | number | `1.5` |
| `"true"`, `"False"` | boolean | `true`, `false` |
| `'["a"]'` | array | `["a"]` |
| `'{"a": 1}'` | object | `{"a": 1}` |

Where the schema accepts strings too, a string is never converted.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from pegboard.schemas.strict_json import Location, decode

JsonType = Literal["integer", "number", "boolean", "array", "object"]
ExpectedType = tuple[Location, JsonType]

_INTEGER = re.compile(r"[+-]?[0-9]{1,300}(?:\.0+)?")
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,3})?"
)
_BOOLEANS = {"true": True, "false": False}
_INFINITY = float("inf")
MAX_ROUNDS = 8
"""Rounds of coercion and validation: each may decode JSON texts within texts."""
_MAX_DEPTH = 100
"""Levels of arrays and objects in a coerced document; JSON readers stop at 200."""


class _Unreadable:
    """The type of `UNREADABLE`."""


UNREADABLE = _Unreadable()


def coerce(value: Any, wanted: JsonType) -> Any:
    """The value converted to the expected type, or `UNREADABLE`."""
    return _READERS[wanted](value)


def coerce_document(document: Any, expected: Sequence[ExpectedType], done: set[Location]) -> Any:
    """Convert the values at these locations; `UNREADABLE` when none can be converted.

    Args:
        document: The parsed arguments; changed in place unless the root itself is replaced.
        expected: The expected type at each location; of several, the first that fits.
        done: The locations that were converted before; extended.
    """
    changed = False
    for location, wanted in expected:
        if location in done:
            continue
        value = coerce(look_up(document, location), wanted)
        if value is UNREADABLE or _is_deeper(value, _MAX_DEPTH - len(location)):
            continue
        document = replace_at(document, location, value)
        done.add(location)
        changed = True
    return document if changed else UNREADABLE


def look_up(document: Any, location: Location) -> Any:
    """The value at a location; `UNREADABLE` when there is none."""
    for step in location:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return UNREADABLE
    return document


def replace_at(document: Any, location: Location, value: Any) -> Any:
    """Replace the value at an existing location, in place; returns the document."""
    if not location:
        return value
    look_up(document, location[:-1])[location[-1]] = value
    return document


def _is_deeper(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        value = list(cast("dict[str, Any]", value).values())
    if not isinstance(value, list):
        return False
    return levels <= 0 or any(_is_deeper(item, levels - 1) for item in cast("list[Any]", value))


def _integer(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return UNREADABLE


def _number(value: Any) -> Any:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value.strip()):
        return UNREADABLE
    if "." not in value:
        whole = _integer(value)
        if whole is not UNREADABLE:
            return whole
    number = float(value)
    return UNREADABLE if abs(number) == _INFINITY else number


def _boolean(value: Any) -> Any:
    return (
        _BOOLEANS.get(value.strip().lower(), UNREADABLE) if isinstance(value, str) else UNREADABLE
    )


def _array(value: Any) -> Any:
    parsed = _decode_container(value, "[")
    return cast("list[Any]", parsed) if isinstance(parsed, list) else UNREADABLE


def _object(value: Any) -> Any:
    parsed = _decode_container(value, "{")
    return cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else UNREADABLE


def _decode_container(value: Any, opening: str) -> Any:
    if not isinstance(value, str) or not value.lstrip().startswith(opening):
        return UNREADABLE
    try:
        return decode(value)
    except ValueError:
        return UNREADABLE


_READERS: dict[JsonType, Callable[[Any], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}
