"""Filters the MCP library's log: errors that only mean a closed stream are dropped."""

import logging

import anyio

_HTTP = logging.getLogger("mcp.client.streamable_http")
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)


def hide_closed_stream_errors() -> None:
    """Drop the errors that the library logs for a message on a stream that was just closed.

    It logs "Error parsing SSE message" with a stack when a caller leaves while the server sends.
    """
    _HTTP.addFilter(_is_fault)  # the same filter is added once


def _is_fault(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, _CLOSED)
