"""Texts with `{{ params.url }}` in them: which parts are paths, and what is put in their place.

Within the braces stands a path, without the `$.` that it has alone; no expression and no filter.
`{{ '{{' }}` stands for the braces themselves.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from pegboard.errors import InvalidRequest

OPENING = "{{"
MAX_CHARACTERS = 1_000_000
"""Of a text that was filled: what is put in is copied, as often as it is named."""

_HOLE = re.compile(r"\{\{(?:[^'\"{}]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")*\}\}", re.DOTALL)
_BRACES = ("'{{'", '"{{"')


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text, each with whether it is to be filled: then with its braces.

    Braces that are not closed as they should be are one such part, to the end of the text.
    """
    place = 0
    while (start := text.find(OPENING, place)) >= 0:
        if start > place:
            yield text[place:start], False
        match = _HOLE.match(text, start)
        if match is None:
            yield text[start:], True
            return
        hole, place = match[0], match.end()
        yield (OPENING, False) if _within(hole) in _BRACES else (hole, True)
    if place < len(text):
        yield text[place:], False


def holes(text: str) -> Iterator[str]:
    """The parts of a text that are to be filled, with their braces."""
    return (piece for piece, is_hole in pieces(text) if is_hole)


def path_within(hole: str) -> str:
    """The path that a part with braces names, as it is written alone.

    Raises:
        InvalidRequest: The braces are not closed.
    """
    if _HOLE.fullmatch(hole) is None:
        raise InvalidRequest("the braces are not closed")
    return f"$.{_within(hole)}"


def fill_template(text: str, look: Callable[[str], Any]) -> str:
    """A text with each part in braces replaced by what `look` finds for it.

    Raises:
        InvalidRequest: It becomes too long.
    """
    parts, length = list[str](), 0
    for piece, is_hole in pieces(text):
        part = as_text(look(piece)) if is_hole else piece
        length += len(part)
        if length > MAX_CHARACTERS:
            raise InvalidRequest(
                f"A text that is filled has at most {MAX_CHARACTERS:,} characters; give what is "
                "larger by a path alone, as $.steps.fetch.output."
            )
        parts.append(part)
    return "".join(parts)


def as_text(value: Any) -> str:
    """A value within a text: a text as it is, all else as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def escape_braces(text: str) -> str:
    """A text written so that no part of it is filled."""
    return text.replace(OPENING, "{{ '{{' }}")


def _within(hole: str) -> str:
    return hole[2:-2].strip()


def _plain(value: object) -> object:
    """What JSON can say of a value that is one, and of no type that `json` knows."""
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else str(value)
