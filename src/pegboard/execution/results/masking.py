"""Mask credentials in the operator's detail by their form, beside the known secrets."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from msgspec import DecodeError, json

from pegboard.core.context import Arguments
from pegboard.execution.results.redaction import MASK

MIN_LENGTH = 6
"""Characters; shorter arguments are common words, flags and numbers."""

# Repetitions are bounded, so that no text makes a search take longer than its length.
_QUOTED = r"'(?:\\.|[^'\\]){0,4000}'|\"(?:\\.|[^\"\\]){0,4000}\""
_ESCAPED = r"\\['\"][^'\"\\]{0,4000}(?:\\['\"])?"
_USER_INFO = re.compile(
    r"(?<=://)(?:[^\s'\"<>/?#]{0,1000}|[^\s'\"<>/?#:@]{0,100}:[^\s'\"<>@]{0,1000})@"
)
_BEARER = re.compile(r"\b(Bearer[ \t]+)[^\s'\",;]+", re.IGNORECASE)
_BASIC = re.compile(r"\b(Basic[ \t]+)[A-Za-z0-9+/=_-]{8,}", re.IGNORECASE)
_NAMED = re.compile(
    r"((?:password|passwd|passphrase|pwd|secret|token|api[_-]?key)[\w-]{0,40}"
    r"\\?['\"]?[ \t]{0,8}[=:][ \t]{0,8})"
    rf"(?!{re.escape(MASK)})(?:[bru]{{0,2}}(?:{_QUOTED})|{_ESCAPED}|[^\s,;&'\")}}\]]+)",
    re.IGNORECASE,
)


def mask_credentials(text: str) -> str:
    """Mask credentials that are recognised by their form.

    URL user info, `Bearer` and `Basic` credentials, and values after `password=`, `token:` and the
    like, also as JSON and Python write them.
    """
    text = _USER_INFO.sub(f"{MASK}@", text)
    text = _BASIC.sub(rf"\1{MASK}", _BEARER.sub(rf"\1{MASK}", text))
    return _NAMED.sub(rf"\1{MASK}", text)


def collect_texts(*arguments: Arguments) -> frozenset[str]:
    """The texts in a call's arguments that are long enough to be distinctive."""
    return frozenset(
        text for item in arguments for text in _texts(_read(item)) if len(text) >= MIN_LENGTH
    )


def _read(arguments: Arguments) -> Any:
    if isinstance(arguments, (str, bytes)):
        try:
            return json.decode(arguments)
        except (DecodeError, UnicodeError, RecursionError):
            return arguments
    return arguments


def _texts(value: Any) -> Iterator[str]:
    waiting: list[Any] = [value]
    seen: set[int] = set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, bytes):
            yield item.decode("utf-8", "backslashreplace")
        elif id(item) not in seen:
            seen.add(id(item))
            waiting.extend(_inside(item))


def _inside(value: Any) -> Collection[Any]:
    if isinstance(value, Mapping):
        return cast("Mapping[Any, Any]", value).values()
    if isinstance(value, (list, tuple, set, frozenset)):
        return cast("Collection[Any]", value)
    return ()
