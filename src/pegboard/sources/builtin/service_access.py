"""Access to the board's services for built-in tools, through the `deps` of their context."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace as replace_data
from functools import wraps
from typing import Any, TypeVar

from msgspec.structs import replace

from pegboard.core.context import Arguments, Call, ToolContext
from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.core.ports.services import Services
from pegboard.core.result import ToolResult
from pegboard.errors import HostUnavailable, SourceUnavailable, Unavailable

_Function = TypeVar("_Function", bound=Callable[..., Any])
_SPARE_SECONDS = 0.5
_AS_GOOD_TWICE = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""RFC 9110, 9.2.2."""
_LEFT_OPEN = " Whether it took effect is unknown: check before you repeat it."
_NO_HTTP = (
    "it needs an HTTP client and there is none: open the board with network, or call it with "
    "ToolContext(deps=Services(http=...))"
)


def services_of(ctx: ToolContext[Any]) -> Services:
    """Return the board's services, or without a board those that need nothing."""
    return ctx.deps if isinstance(ctx.deps, Services) else Services()


def http_of(ctx: ToolContext[Any]) -> HttpClient:
    """Return the guarded HTTP client.

    Raises:
        SourceUnavailable: There is none.
    """
    http = services_of(ctx).http
    if http is None:
        raise SourceUnavailable(
            f"This tool is unavailable: {_NO_HTTP}.", nothing_done=True, permanent=True
        )
    return http


async def send_request(ctx: ToolContext[Any], request: HttpRequest) -> HttpResponse:
    """Send a request to a host that the caller named, and return its response.

    The request times out shortly before the call, so that a host that does not respond is not
    reported as a tool that hangs.

    Raises:
        HostUnavailable: It cannot be reached, or does not respond in time. It is not retryable
            where the request may have taken effect and is not idempotent.
        SourceUnavailable: There is no HTTP client.
    """
    try:
        return await http_of(ctx).send(limit_time(request, ctx.remaining()))
    except Unavailable as error:
        if type(error) is not Unavailable:
            raise  # the board cannot send
        is_open = not error.nothing_done and request.method not in _AS_GOOD_TWICE
        raise HostUnavailable(
            f"{error.message}{_LEFT_OPEN if is_open else ''}",
            retry_after=error.retry_after,
            nothing_done=error.nothing_done,
            permanent=is_open,
        ) from (error.__cause__ or error)


def limit_time(request: HttpRequest, remaining: float | None) -> HttpRequest:
    """Return the request with a timeout that ends shortly before the call does."""
    if remaining is None:
        return request
    left = round(remaining - min(_SPARE_SECONDS, remaining / 10), 2)
    return request if (request.timeout or left) < left else replace_data(request, timeout=left)


def why_no_http(services: Services) -> str:
    """Return why a tool that needs HTTP is unavailable; empty if it is available."""
    return "" if services.http is not None else _NO_HTTP


def bind_services(function: _Function, services: Services) -> _Function:
    """Return the function with these services in its context, if it takes a context.

    The `deps` that the application gives to its own tools are not visible to the built-in ones,
    only to the application's tools that they call.
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
    """Return a caller that passes on the application's own `deps`."""
    caller = ctx.caller
    if caller is None:
        return None

    def call(tool: str, arguments: Arguments, inner: ToolContext[Any]) -> Awaitable[ToolResult]:
        return caller(tool, arguments, replace(inner, deps=ctx.deps))

    return call
