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
    """A handle that nobody can guess.

    It says how long its pages are, so that page 2 begins where page 1 ended, whoever reads it.
    """
    handle = PREFIX + secrets.token_hex(12)
    return f"{handle}-p{page_bytes}" if page_bytes else handle


def page_bytes_of(handle: str) -> int | None:
    """How many bytes a page of this result may have; None when the handle does not say."""
    match = _PAGED.search(handle)
    return int(match.group(1)) if match else None


def value_of(stored: StoredResult) -> Any:
    """What a stored result stands for as an argument."""
    if stored.media_type == "application/json":
        return from_json(stored.body)
    try:
        return stored.body.decode()
    except UnicodeDecodeError:
        return base64.b64encode(stored.body).decode()


async def find(handle: str, results: ResultStore, owner: str) -> StoredResult:
    """The stored result behind a handle.

    Raises:
        HandleNotFound: Unknown, expired or somebody else's.
    """
    stored = await results.get(handle, owner)
    if stored is None:
        raise HandleNotFound(f"There is no stored result {handle}; it may have expired.")
    return stored
