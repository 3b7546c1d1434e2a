"""JSON-RPC errors for what goes wrong outside a tool."""

import asyncio
import logging
import secrets
from typing import Any

import anyio.lowlevel
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, ErrorData
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from pegboard.core.result import error_to_dict
from pegboard.errors import (
    CallerError,
    InvalidRequest,
    PegboardError,
    ToolNotFound,
    shorten_name,
)
from pegboard.servers.mcp.progress import Request

_LOG = logging.getLogger("pegboard.mcp")

DUPLICATE_ID = (
    "A request with this id is still being answered: give each request of a session an id of its "
    "own"
)
MALFORMED_ID = "The id of a request must be a text or a whole number"
RESOURCE_NOT_FOUND = -32002
"""Until 2025-11-25; from 2026-07-28 on it is `INVALID_PARAMS`."""


MAX_FAULTS = 5
"""Faults that are named."""
UNINITIALIZED = "This session is not initialized: send 'initialize' with valid params first"
_SDK_UNINITIALIZED = ErrorData(code=INVALID_PARAMS, message="Invalid request parameters", data="")


def protocol_error(error: PegboardError) -> MCPError:
    """The JSON-RPC error of an error; details for the operator are left out."""
    code = INVALID_PARAMS if isinstance(error, CallerError) else INTERNAL_ERROR
    return MCPError(code, str(error), error_to_dict(error))


def no_resource(uri: str, version: str) -> MCPError:
    """The error for a resource that does not exist or is hidden."""
    code = INVALID_PARAMS if version in MODERN_PROTOCOL_VERSIONS else RESOURCE_NOT_FOUND
    return MCPError(code, "Resource not found", {"uri": uri})


def no_prompt(name: str) -> MCPError:
    """The error for a prompt that does not exist or is hidden."""
    return protocol_error(InvalidRequest(f"Prompt '{shorten_name(name)}' not found."))


def unknown_tool(name: str, nearest: tuple[str, ...] = ()) -> MCPError:
    """The error for a tool that does not exist or is hidden."""
    return protocol_error(ToolNotFound(name, nearest))


def internal_error(error: Exception, *, during: str) -> MCPError:
    """The error for an unexpected exception: it shows an error id, the log has the details."""
    error_id = f"e_{secrets.token_hex(6)}"
    _LOG.error("mcp: %s failed: error id %s", during, error_id, exc_info=error)
    data: dict[str, Any] = {"code": "internal", "retryable": False, "error_id": error_id}
    return MCPError(INTERNAL_ERROR, f"Something went wrong in the server ({error_id}).", data)


async def contain_cancellation(ctx: Request, call_next: CallNext) -> HandlerResult:
    """Middleware of the SDK: the cancellation of a request ends this request alone.

    The SDK recognises the cancellation of a request by the text of its `CancelledError`. One that
    comes out of an inner task lacks that text, and would end the whole session.
    """
    try:
        return await call_next(ctx)
    except asyncio.CancelledError:
        await anyio.lowlevel.checkpoint_if_cancelled()  # raises the SDK's own where it cancelled
        raise


async def name_param_faults(ctx: Request, call_next: CallNext) -> HandlerResult:
    """Middleware of the SDK: says which params of a request are wrong, without their values.

    Raises:
        MCPError: The params do not fit the request's method.
    """
    try:
        return await call_next(ctx)
    except MCPError as error:
        if error.error == _SDK_UNINITIALIZED:
            raise MCPError(INVALID_PARAMS, UNINITIALIZED) from error
        raise
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        text = "; ".join(_param_fault(fault) for fault in faults[:MAX_FAULTS])
        raise MCPError(
            INVALID_PARAMS, f"The params of '{shorten_name(ctx.method)}' do not fit: {text}"
        ) from error


def _param_fault(fault: Any) -> str:
    path = shorten_name(".".join(str(step) for step in fault["loc"]))
    return f"{path}: {fault['msg']}"
