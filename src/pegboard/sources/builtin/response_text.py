"""Interprets a response body as JSON, text or bytes."""

import json
import re
from typing import Any

from pegboard.core.ports.http import HttpResponse
from pegboard.tools.charset import decode_text

_TEXT = re.compile(
    r"text/.*|application/(?:.*\+)?(?:json|xml)|application/(?:javascript|x-www-form-urlencoded"
    r"|x-ndjson|yaml|x-yaml|toml|graphql|sql|rtf)|image/svg\+xml|message/.*"
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_HTML_START = 2048


def text_of(response: HttpResponse) -> str | None:
    """Return the body as text by its declared charset, else UTF-8; None if it is not text."""
    media_type = response.media_type
    if media_type and not _TEXT.fullmatch(media_type):
        return None
    if not media_type and b"\0" in response.content:
        return None
    return decode_text(response.content, _charset_of(response))


def json_of(response: HttpResponse, text: str) -> tuple[bool, Any]:
    """Return whether the body is complete JSON, and its value."""
    if not (response.media_type.endswith(("/json", "+json"))) or response.truncated:
        return False, None
    try:
        return True, json.loads(text)
    except (ValueError, RecursionError):
        return False, None


def _charset_of(response: HttpResponse) -> str:
    found = _CHARSET.search(response.headers.get("content-type", ""))
    if found is None and response.media_type in ("text/html", "application/xhtml+xml"):
        found = _CHARSET.search(response.content[:_HTML_START].decode("latin-1"))
    return found[1] if found else ""


def find_part_end(text: str, offset: int, max_length: int) -> int:
    """Return where to end a part: at the end of a line, if the last fifth of it has one."""
    end = offset + max_length
    if end >= len(text):
        return len(text)
    line_end = text.rfind("\n", end - max_length // 5, end)
    return end if line_end < 0 else line_end + 1
