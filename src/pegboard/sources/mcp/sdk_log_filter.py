"""What the MCP library logs, without the faults that are none."""

import logging

import anyio

_HTTP = logging.getLogger("mcp.client.streamable_http")
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)


def hide_closed_stream_errors() -> None:
    """Do not log as an error that a message came for a connection that was just closed.

    The library calls that "Error parsing SSE message", with a stack, whenever a caller goes away
    while the server is speaking.
    """
    _HTTP.addFilter(_is_fault)  # the same filter is added once


def _is_fault(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, _CLOSED)
