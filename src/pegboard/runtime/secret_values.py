"""Finds the secrets of a board, which must not appear in results, records or logs."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import unquote

from pydantic import BaseModel, SecretStr

_SECRETIVE = re.compile(r"TOKEN|SECRET|PASS|PWD|KEY|CREDENTIAL|AUTH", re.IGNORECASE)
_USER_INFO = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@]*:([^\s/]*)@")


def is_secretive(variable: str) -> bool:
    """Whether the name of a variable marks its value as secret."""
    return _SECRETIVE.search(variable) is not None


def secret_values(things: Iterable[Any]) -> tuple[str, ...]:
    """Every secret within configurations: `SecretStr` fields, and passwords inside URLs.

    Args:
        things: Models, mappings, sequences or texts.
    """
    return tuple(dict.fromkeys(value for thing in things for value in _within(thing) if value))


def _within(thing: Any) -> Iterator[str]:
    if isinstance(thing, SecretStr):
        value = thing.get_secret_value()
        yield from _passwords(value)
        if "://" not in value:
            yield value
    elif isinstance(thing, str):
        yield from _passwords(thing)
    elif isinstance(thing, BaseModel):
        for name in type(thing).model_fields:
            yield from _within(getattr(thing, name))
    elif isinstance(thing, Mapping):
        for value in cast("Mapping[Any, Any]", thing).values():
            yield from _within(value)
    elif isinstance(thing, (list, tuple, set, frozenset)):
        for item in cast("Iterable[Any]", thing):
            yield from _within(item)


def _passwords(text: str) -> Iterator[str]:
    """The passwords of URLs in a text, percent-encoded and decoded."""
    for match in _USER_INFO.finditer(text):
        yield match.group(1)
        yield unquote(match.group(1))
