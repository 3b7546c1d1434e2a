"""What the MCP library says of a connection that was closed is no error of a server."""

import logging

import anyio
import pytest

from pegboard.sources.mcp.sdk_log_filter import hide_closed_stream_errors

_LOG = logging.getLogger("mcp.client.streamable_http")


def _logged(error: Exception) -> None:
    try:
        raise error
    except Exception:
        _LOG.exception("Error parsing SSE message")


def _said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [item.getMessage() for item in caplog.records if item.name == _LOG.name]


@pytest.mark.parametrize("error", [anyio.BrokenResourceError(), anyio.ClosedResourceError()])
def test_a_message_for_a_connection_that_is_closed_is_not_logged(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    hide_closed_stream_errors()
    hide_closed_stream_errors()

    _logged(error)

    assert _said(caplog) == []


def test_what_cannot_be_read_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    hide_closed_stream_errors()

    _logged(ValueError("no JSON"))
    _LOG.warning("odd")

    assert _said(caplog) == ["Error parsing SSE message", "odd"]
