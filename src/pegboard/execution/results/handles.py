"""Handles: a stored result, named in an argument, so that it moves without passing a model."""

import base64
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic_core import from_json

from pegboard.core.context import Arguments
from pegboard.core.ports.call_stores import ResultStore, StoredResult
from pegboard.core.tool import JsonSchema
from pegboard.errors import HandleNotFound
from pegboard.tools.argument_parsing import parsed

PREFIX = "pegboard://results/"
FORMAT = "pegboard-handle"
_SCHEME = "pegboard:"  # alone: JSON may write the slashes escaped
_BYTES_SCHEME = _SCHEME.encode()
# JSON may also write any of its characters by their number; a plain text is found sooner
_NUMBER = "\\u00"
_BYTES_NUMBER = _NUMBER.encode()
_NUMBERED = re.compile(r"\\u00[367]")
_BYTES_NUMBERED = re.compile(_NUMBERED.pattern.encode())
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


def mentions_handle(raw: Arguments) -> bool:
    """Whether there may be a handle in these arguments; cheap, and never wrong when it says no."""
    if isinstance(raw, str):
        return _SCHEME in raw or (_NUMBER in raw and _NUMBERED.search(raw) is not None)
    if isinstance(raw, bytes):
        return _BYTES_SCHEME in raw or (
            _BYTES_NUMBER in raw and _BYTES_NUMBERED.search(raw) is not None
        )
    try:
        return isinstance(raw, (dict, Mapping)) and _within(raw.values())
    except RecursionError:
        return True  # whoever reads it says what is wrong


def handle_parameters(schema: JsonSchema) -> frozenset[str]:
    """Parameters that take a handle as it is: those with the format `pegboard-handle`."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    return frozenset(
        name
        for name, node in properties.items()
        if isinstance(node, Mapping) and cast("Mapping[str, Any]", node).get("format") == FORMAT
    )


async def fill_in(
    tool: str,
    raw: Arguments,
    results: ResultStore,
    owner: str,
    *,
    kept: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """The arguments with each text that is a handle replaced by the stored value.

    Parameters in `kept` stay as they are.

    JSON becomes its value, text stays text, other media become base64 text.

    Raises:
        HandleNotFound: Unknown, expired or somebody else's.
    """
    arguments = parsed(tool, raw)
    return {
        name: value if name in kept else await _filled(value, results, owner)
        for name, value in arguments.items()
    }


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


def _within(values: Iterable[Any]) -> bool:
    for value in values:
        if isinstance(value, str):
            if value.startswith(PREFIX):
                return True
        elif isinstance(value, Mapping):
            if _within(cast("Mapping[str, Any]", value).values()):
                return True
        elif isinstance(value, (list, tuple)) and _within(cast("list[Any]", value)):
            return True
    return False


async def _filled(value: Any, results: ResultStore, owner: str) -> Any:
    if isinstance(value, str):
        if not value.startswith(PREFIX):
            return value
        return value_of(await find(value, results, owner))
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: await _filled(item, results, owner) for key, item in items}
    if isinstance(value, list):
        return [await _filled(item, results, owner) for item in cast("list[Any]", value)]
    return value
