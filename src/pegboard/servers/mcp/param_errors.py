"""Params that do not fit a request: the SDK says that they do not, this says where."""

from collections.abc import Sequence
from typing import Any

from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ErrorData
from pydantic import ValidationError

from pegboard.errors import shorten_name
from pegboard.servers.mcp.progress import Request

MOST = 5
"""Faults that are named."""
UNINITIALIZED = "This session is not initialized: begin with 'initialize', and params that fit it"
_SDK_UNINITIALIZED = ErrorData(code=INVALID_PARAMS, message="Invalid request parameters", data="")


async def named(ctx: Request, call_next: CallNext) -> HandlerResult:
    """Middleware of the SDK: names what is wrong with the params of a request.

    Raises:
        MCPError: They do not fit; no value of theirs is repeated.
    """
    try:
        return await call_next(ctx)
    except MCPError as error:
        if error.error == _SDK_UNINITIALIZED:
            raise MCPError(INVALID_PARAMS, UNINITIALIZED) from error
        raise
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        said = "; ".join(f"{_dotted(item['loc'])}: {item['msg']}" for item in faults[:MOST])
        raise MCPError(
            INVALID_PARAMS, f"The params of '{shorten_name(ctx.method)}' do not fit: {said}"
        ) from error


def _dotted(place: Sequence[Any]) -> str:
    return shorten_name(".".join(str(step) for step in place))
