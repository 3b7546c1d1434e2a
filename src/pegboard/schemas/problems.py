"""Readable problems of arguments, for models to act on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from pegboard.core.text import truncate
from pegboard.core.text.suggestions import did_you_mean
from pegboard.errors import Problem
from pegboard.schemas.strict_json import Location

MAX_PROBLEMS = 20
_PREVIEW = 60
_MAX_MESSAGE = 300


def path_of(location: Sequence[str | int]) -> str:
    """A location as a path: `items[2].price`."""
    path = ""
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{_cut(step)}" if path else _cut(step)
    return path


def describe_value(value: Any) -> str:
    """The value and its JSON type, shortened: `"abc" (string)`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"{str(value).lower()} (boolean)"
    if isinstance(value, float):
        return f"{value!r} (number)"
    if isinstance(value, int):
        return f"{_short(value)} (number)"
    if isinstance(value, str):
        return f'"{_cut(value)}" (string)'
    if isinstance(value, (list, tuple)):
        return f"an array of {len(cast('Sequence[Any]', value))}"
    if isinstance(value, Mapping):
        return "an object"
    return f"a Python {type(value).__name__}"


def with_article(json_type: str) -> str:
    """A JSON type with its article: `an integer`, `a string`, `null`."""
    if json_type == "null":
        return "null"
    return f"an {json_type}" if json_type[0] in "aio" else f"a {json_type}"


def unknown_argument(
    location: Location, known: Iterable[str], *, noun: str = "argument"
) -> Problem:
    """The problem of an unknown argument, with the nearest known names."""
    names = sorted(known)
    there = f"known are {', '.join(names[:20])}" if names else "there are none"
    hint = did_you_mean(str(location[-1]), names, otherwise=there)
    return Problem(path=path_of(location), message=f"unknown {noun}; {hint}", kind="unknown")


def missing_argument(location: Location, description: str = "") -> Problem:
    """The problem of a missing required argument."""
    about = f" ({_cut(' '.join(description.split()))})" if description else ""
    return Problem(path=path_of(location), message=f"missing, required{about}", kind="missing")


def malformation(message: str) -> Problem:
    """The problem of arguments that are not JSON, or not an object."""
    return Problem(path="", message=message, kind="malformed")


def not_an_object(value: Any) -> Problem:
    """The problem of JSON that is not an object."""
    return malformation(f"expected a JSON object with the arguments, found {describe_value(value)}")


def shorten(message: str) -> str:
    """Shorten a message to one line of at most 300 characters."""
    return _printable(truncate.truncate(message, _MAX_MESSAGE))


def _short(number: int) -> str:
    # int to str of huge numbers is quadratic and capped by the interpreter
    return str(number) if number.bit_length() < 200 else f"a {number.bit_length()}-bit integer"


def _cut(text: str) -> str:
    return _printable(truncate.truncate(text, _PREVIEW))


def _printable(text: str) -> str:
    """Escape line breaks, which separate problems, and lone surrogates, which are not UTF-8."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()
