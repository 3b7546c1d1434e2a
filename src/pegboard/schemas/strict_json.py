"""Strict JSON decoding: no NaN and no infinities."""

import math
from collections.abc import Iterator
from typing import Any, cast

from msgspec.json import Decoder
from pydantic_core import from_json

Location = tuple[str | int, ...]

_DECODE = Decoder().decode
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
        return list(_not_finite(from_json(text), ()))
    except (ValueError, TypeError):
        return []


def _check_depth(text: str | bytes) -> None:
    try:
        from_json(text)
    except TypeError as error:
        raise ValueError("the text holds half of a surrogate pair") from error


def _openings(text: str | bytes) -> int:
    if isinstance(text, str):
        return text.count("[") + text.count("{")
    return text.count(b"[") + text.count(b"{")


def _not_finite(value: Any, place: Location) -> Iterator[tuple[Location, float]]:
    if isinstance(value, float):
        if not math.isfinite(value):
            yield place, value
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from _not_finite(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from _not_finite(item, (*place, index))
