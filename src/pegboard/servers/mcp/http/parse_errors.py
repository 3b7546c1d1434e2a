"""A refusal of the SDK's over HTTP in words of our own, not in those of a parser.

What `envelope.py` lets pass is refused only where the SDK reads more strictly than it.
"""

import json
from typing import Any, cast

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Send

from pegboard.servers.mcp.http.jsonrpc_message import NO_JSON, TOO_DEEP, TOO_LONG_NUMBER

NO_MESSAGE = "The body is not one message of JSON-RPC 2.0"

_INSTEAD = {
    "Parse error: recursion limit": (PARSE_ERROR, TOO_DEEP),
    "Parse error: number out of range": (PARSE_ERROR, TOO_LONG_NUMBER),
    "Parse error": (PARSE_ERROR, NO_JSON),
    "Validation error: ": (INVALID_REQUEST, NO_MESSAGE),
}
"""How the texts begin that the SDK makes of a parser's, and what is said instead."""


def readable(send: Send) -> Send:
    """The way back to a client on which a parser's text is replaced by a short sentence."""
    held: Message | None = None

    async def pass_on(message: Message) -> None:
        nonlocal held
        if message["type"] == "http.response.start" and message["status"] == 400:
            held = message
            return
        if held is not None and message["type"] == "http.response.body":
            start, held = held, None
            instead = _instead(message.get("body", b""))
            if instead is not None:
                body = instead.model_dump_json(by_alias=True, exclude_unset=True).encode()
                MutableHeaders(scope=start)["Content-Length"] = str(len(body))
                message = {**message, "body": body}
            await send(start)
        await send(message)

    return pass_on


def _instead(body: bytes) -> JSONRPCError | None:
    try:
        found: Any = json.loads(body)
    except ValueError:
        return None
    error: Any = cast("dict[str, Any]", found).get("error") if isinstance(found, dict) else None
    text = str(cast("dict[str, Any]", error).get("message")) if isinstance(error, dict) else ""
    return next((_error(*item) for start, item in _INSTEAD.items() if text.startswith(start)), None)


def _error(code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=message))
