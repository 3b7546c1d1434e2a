"""How a built-in tool gets what the board has: as the `deps` of its context."""

import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from msgspec.structs import replace

from pegboard.core.context import Arguments, Call, ToolContext
from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.core.ports.services import Services
from pegboard.core.result import ToolResult
from pegboard.errors import HostUnavailable, SourceUnavailable, Unavailable

_Function = TypeVar("_Function", bound=Callable[..., Any])
_NO_HTTP = (
    "it needs an HTTP client and there is none: open the board with network, or call it with "
    "ToolContext(deps=Services(http=...))"
)


def services_of(ctx: ToolContext[Any]) -> Services:
    """The board's services; without a board, those that need nothing."""
    return ctx.deps if isinstance(ctx.deps, Services) else Services()


def http_of(ctx: ToolContext[Any]) -> HttpClient:
    """The guarded HTTP client.

    Raises:
        SourceUnavailable: There is none.
    """
    http = services_of(ctx).http
    if http is None:
        raise SourceUnavailable(
            f"This tool is unavailable: {_NO_HTTP}.", nothing_done=True, permanent=True
        )
    return http


async def sent(ctx: ToolContext[Any], request: HttpRequest) -> HttpResponse:
    """What the host answers that a caller named; that it is away is nothing of the tool's.

    Raises:
        HostUnavailable: It cannot be reached.
        SourceUnavailable: There is no HTTP client.
    """
    try:
        return await http_of(ctx).send(request)
    except Unavailable as error:
        if type(error) is not Unavailable:
            raise  # it is the board that cannot send
        raise HostUnavailable(
            error.message, retry_after=error.retry_after, nothing_done=error.nothing_done
        ) from (error.__cause__ or error)


def without_http(services: Services) -> str:
    """Why a tool that speaks HTTP cannot be used with these services; empty when it can."""
    return "" if services.http is not None else _NO_HTTP


def bound(function: _Function, services: Services) -> _Function:
    """The same function, given these services in its context; unchanged if it takes none.

    What the application hands to its own tools as `deps` is not for the built-in ones, only for
    those of its own that they call.
    """
    if "ctx" not in inspect.signature(function).parameters:
        return function

    @wraps(function)
    async def bound_async(*args: Any, ctx: ToolContext[Any], **kwargs: Any) -> Any:
        inside = replace(ctx, deps=services, caller=_as_before(ctx))
        return await function(*args, ctx=inside, **kwargs)

    @wraps(function)
    def bound_sync(*args: Any, ctx: ToolContext[Any], **kwargs: Any) -> Any:
        return function(*args, ctx=replace(ctx, deps=services), **kwargs)

    return bound_async if inspect.iscoroutinefunction(function) else bound_sync  # type: ignore[return-value]  # the same signature


def _as_before(ctx: ToolContext[Any]) -> Call | None:
    """Calls other tools with what the application hands to them."""
    caller = ctx.caller
    if caller is None:
        return None

    def call(tool: str, arguments: Arguments, inner: ToolContext[Any]) -> Awaitable[ToolResult]:
        return caller(tool, arguments, replace(inner, deps=ctx.deps))

    return call
