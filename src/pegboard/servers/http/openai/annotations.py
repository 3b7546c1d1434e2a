"""Citations of an answer as annotations of OpenAI's API."""

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from pegboard.core.knowledge import Citation

_NUMBERS = re.compile(r"\[(\d+(?:, \d+)*)\]")


def make_url_annotations(text: str, citations: Sequence[Citation]) -> list[dict[str, Any]]:
    """Those of a chat completion: a place of the text, and the document behind it."""
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": start,
                "end_index": end,
                "title": _name(citation),
                "url": _address(citation),
                "quote": citation.quote,
            },
        }
        for start, end, citation in _find_places(text, citations)
    ]


def make_file_annotations(text: str, citations: Sequence[Citation]) -> list[dict[str, Any]]:
    """Those of a response."""
    return [
        {
            "type": "file_citation",
            "index": start,
            "file_id": citation.document,
            "filename": _name(citation),
            "quote": citation.quote,
        }
        for start, _, citation in _find_places(text, citations)
    ]


def _find_places(text: str, citations: Sequence[Citation]) -> Iterator[tuple[int, int, Citation]]:
    """Where an answer cites what."""
    known = {str(citation.number): citation for citation in citations}
    for match in _NUMBERS.finditer(text):
        for number in match[1].split(", "):
            if number in known:
                yield match.start(), match.end(), known[number]


def _name(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.page else ""
    return f"{citation.title or citation.document}{page}"


def _address(citation: Citation) -> str:
    """The address of the document as a resource of the board."""
    page = f"#page={citation.page}" if citation.page else ""
    place = f"{quote(citation.base, safe='')}/{quote(citation.document, safe='')}"
    return f"board://knowledge/{place}{page}"
