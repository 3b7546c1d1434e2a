"""Handles: the names of stored results, so that a result moves without passing a model."""

import base64
import re
import secrets
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from pegboard.core.ports.call_stores import ResultStore, StoredResult
from pegboard.core.result import RESULT_URI
from pegboard.errors import HandleNotFound, PegboardError

if TYPE_CHECKING:
    from pegboard.execution.environment import CallEnvironment

FORMAT = "pegboard-handle"
_PAGED = re.compile(r"-p(\d{1,15})\Z")


def new_handle(*, page_bytes: int = 0) -> str:
    """A new random handle.

    It contains the page size, so that every reader cuts the pages in the same places.
    """
    handle = RESULT_URI + secrets.token_hex(12)
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


async def store_result(
    environment: "CallEnvironment",
    body: bytes,
    *,
    owner: str,
    media_type: str = "text/plain",
    page_bytes: int = 0,
    name: str = "",
) -> str:
    """Store a result under a new handle.

    Args:
        environment: Has the store, and how long results are kept.
        body: JSON when the media type says so, else raw bytes.
        owner: `tenant/principal id`, the only reader.
        media_type: Of the body.
        page_bytes: Bytes of a page; 0 for one page.
        name: Of a file.

    Returns:
        The handle; empty when it could not be stored.
    """
    now = environment.now()
    stored = StoredResult(
        handle=new_handle(page_bytes=page_bytes),
        owner=owner,
        media_type=media_type,
        body=body,
        created_at=now,
        expires_at=now + environment.settings.result_ttl,
        name=name,
    )
    try:
        await environment.results.put(stored)
    except PegboardError:
        return ""
    return stored.handle
