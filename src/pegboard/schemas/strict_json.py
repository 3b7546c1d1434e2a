"""Strict JSON decoding: no NaN and no infinities."""

import math
import re
from collections.abc import Iterator
from typing import Any, cast

from msgspec.json import Decoder
from pydantic_core import from_json

Location = tuple[str | int, ...]

_DECODE = Decoder().decode
# possessive, and it matches a string without an end too: else each quote would be tried to the end
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_MAX_DEPTH = 200
"""Levels that pydantic's reader takes; a text as short as this on either side has no more."""


def decode(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is not JSON, not UTF-8, nested too deeply, or has a number that is too large.
    """
    if len(text) > 2 * _MAX_DEPTH and _openings(text) > _MAX_DEPTH:
        _check_depth(text)
    try:
        return _DECODE(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def has_more_values(text: bytes, most: int) -> bool:
    """Whether a JSON text has more values than this, without decoding it."""
    if _separators(text) < most:
        return False
    return _separators(_STRING.sub(b"", text)) >= most


def _separators(text: bytes) -> int:
    """Each value of a JSON text but the first stands behind one of these."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def is_json(text: str | bytes) -> bool:
    """Whether `decode` accepts the text."""
    try:
        decode(text)
    except ValueError:
        return False
    return True


def not_finite_places(text: str | bytes) -> list[tuple[Location, float]]:
    """The locations of NaN and infinities in a text that is JSON otherwise."""
    try:
        return list(find_not_finite(from_json(text)))
    except (ValueError, TypeError):
        return []


def find_not_finite(value: Any, place: Location = ()) -> Iterator[tuple[Location, float]]:
    """The locations of NaN and infinities in a value, from a place on."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield place, value
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from find_not_finite(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from find_not_finite(item, (*place, index))


def replace_not_finite(value: Any) -> Any:
    """The value with null for NaN and infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: replace_not_finite(item) for key, item in items}
    if isinstance(value, list):
        return [replace_not_finite(item) for item in cast("list[Any]", value)]
    return value


def _check_depth(text: str | bytes) -> None:
    try:
        from_json(text)
    except TypeError as error:
        raise ValueError("the text holds half of a surrogate pair") from error


def _openings(text: str | bytes) -> int:
    if isinstance(text, str):
        return text.count("[") + text.count("{")
    return text.count(b"[") + text.count(b"{")
