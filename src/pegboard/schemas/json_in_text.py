"""JSON objects within the text of a language model."""

import json
import re
from collections.abc import Iterator

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_MOST_STARTS = 20
"""Places in a text that are tried as the beginning of an object."""


def find_objects(text: str) -> Iterator[str]:
    """JSON objects in a text: all of it, a fenced block, or within prose.

    What only looks like an object, from its first to its last brace, is given too, so that its
    faults can be told.
    """
    for piece in (text.strip(), *(block.strip() for block in _FENCE.findall(text))):
        if piece.startswith("{") and piece.endswith("}"):
            yield piece
    decoder = json.JSONDecoder()
    start = -1
    for _ in range(_MOST_STARTS):
        start = text.find("{", start + 1)
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield text[start:end]
