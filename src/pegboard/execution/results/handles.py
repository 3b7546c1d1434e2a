"""Handles: the names of stored results, so that a result moves without passing a model."""

import base64
import re
import secrets
from typing import Any

from pydantic_core import from_json

from pegboard.core.ports.call_stores import ResultStore, StoredResult
from pegboard.errors import HandleNotFound

PREFIX = "pegboard://results/"
FORMAT = "pegboard-handle"
_PAGED = re.compile(r"-p(\d{1,15})\Z")


def new_handle(*, page_bytes: int = 0) -> str:
    """A new random handle.

    It contains the page size, so that every reader cuts the pages in the same places.
    """
    handle = PREFIX + secrets.token_hex(12)
    return f"{handle}-p{page_bytes}" if page_bytes else handle


def page_bytes_of(handle: str) -> int | None:
    """The page size of a handle in bytes; None when the handle does not say."""
    match = _PAGED.search(handle)
    return int(match.group(1)) if match else None


def value_of(stored: StoredResult) -> Any:
    """The value of a stored result as an argument: JSON, text, or base64 text."""
    if stored.media_type == "application/json":
        return from_json(stored.body)
    try:
        return stored.body.decode()
    except UnicodeDecodeError:
        return base64.b64encode(stored.body).decode()


async def load_result(handle: str, results: ResultStore, owner: str) -> StoredResult:
    """The stored result of a handle.

    Raises:
        HandleNotFound: Unknown, expired or owned by another caller.
    """
    stored = await results.get(handle, owner)
    if stored is None:
        raise HandleNotFound(f"There is no stored result {handle}; it may have expired.")
    return stored
