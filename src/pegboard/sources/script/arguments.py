"""Turns the arguments of a call into a command line, without a shell."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pegboard.errors import InvalidRequest
from pegboard.sources.script.description import Argument, Description, fill_template, placeholders

_MAX_ARGUMENT = 100_000
_MAX_ALL_ARGUMENTS = 1_000_000


def command_line(description: Description, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments of the script's command line; empty when they are sent as JSON.

    Raises:
        InvalidRequest: A value cannot be passed on a command line.
    """
    if description.input == "json":
        return ()
    given = {name: value for name, value in arguments.items() if value is not None}
    made = (
        _flags(description, given)
        if description.input == "flags"
        else _template(description.arguments, given)
    )
    words = tuple(made)
    _check(words)
    return words


def _flags(description: Description, given: Mapping[str, Any]) -> Iterator[str]:
    """`--name=value` in the order of the schema, so that no value is read as a flag."""
    for name in description.properties:
        value = given.get(name)
        if value is True:
            yield f"--{name}"
        elif value is None or value is False:
            continue
        else:
            for item in _items(value):
                yield f"--{name}={_text(item)}"


def _template(entries: Sequence[Argument], given: Mapping[str, Any]) -> Iterator[str]:
    """Each entry once, or once per item of a list; left out when a value is missing."""
    options_end = False
    for entry in entries:
        names = placeholders(entry)
        if not given.keys() >= set(names):
            continue
        lists = [name for name in names if isinstance(given[name], list)]
        parts = (entry,) if isinstance(entry, str) else entry
        for item in _items(given[lists[0]]) if lists else [None]:
            values = {name: _text(item if name in lists[:1] else given[name]) for name in names}
            for part in parts:
                word = fill_template(part, values)
                _refuse_option(part, word, options_end=options_end)
                options_end = options_end or part == "--"
                yield word


def _refuse_option(part: str, word: str, *, options_end: bool) -> None:
    """Refuse a value at the start of an entry that would be read as an option."""
    if part.startswith("{") and not part.startswith("{{") and word.startswith("-"):
        if options_end:
            return
        name = placeholders(part)[0]
        raise InvalidRequest(f"'{name}' may not begin with '-'.")


def _items(value: Any) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _check(words: Sequence[str]) -> None:
    if any("\0" in word for word in words):
        raise InvalidRequest(
            "An argument contains a NUL character, which a command line cannot hold."
        )
    try:
        sizes = [len(word.encode()) for word in words]
    except UnicodeEncodeError as error:
        raise InvalidRequest("An argument is not valid Unicode text.") from error
    if max(sizes, default=0) > _MAX_ARGUMENT or sum(sizes) > _MAX_ALL_ARGUMENTS:
        raise InvalidRequest(
            f"The arguments are too long for a command line: at most {_MAX_ARGUMENT} bytes each."
        )
