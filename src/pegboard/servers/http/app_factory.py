"""Builds the FastAPI application; imported only where the `server` extra is installed."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Match, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from pegboard.errors import PegboardError
from pegboard.runtime import Pegboard
from pegboard.servers.http.browser_pages import add_pages
from pegboard.servers.http.browser_sessions import BrowserSessions
from pegboard.servers.http.callers import BoardCallers, TokenCallers
from pegboard.servers.http.console_files import FOLDERS, ConsoleFiles
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.mcp_endpoint import McpEndpoint
from pegboard.servers.http.middleware.authentication import (
    AuthenticationMiddleware,
    AuthenticationSettings,
    authentication_settings,
)
from pegboard.servers.http.middleware.body_limit import BodyLimit
from pegboard.servers.http.middleware.client_address import (
    ClientAddress,
    TrustedProxies,
    UntrustedProxyWarning,
    limit_key,
)
from pegboard.servers.http.middleware.query_check import QueryCheck
from pegboard.servers.http.middleware.request_limit import RequestLimit
from pegboard.servers.http.middleware.security_headers import SecurityHeaders
from pegboard.servers.http.oauth_endpoint import (
    OAUTH,
    RESOURCE_METADATA,
    SERVER_METADATA,
    OAuthEndpoint,
)
from pegboard.servers.http.openapi import document
from pegboard.servers.http.problem_details import answer_error, answer_framework, answer_invalid
from pegboard.servers.http.routes import (
    agents,
    approvals,
    audit,
    catalogue,
    chat,
    conversation_files,
    dependencies,
    execute,
    history,
    kill_switches,
    marketplace,
    openai,
    overview,
    pins,
    plans,
    probes,
    records,
    runs,
    settings,
    skills,
    tickets,
    tools,
)
from pegboard.servers.http.routes.accounts import (
    account,
    credentials,
    files,
    keys,
    oauth_consent,
    oidc,
    organisations,
    people,
    quotas,
    resources,
    services,
    session,
    uploads,
)
from pegboard.servers.http.routes.knowledge import bases, document_history, documents
from pegboard.servers.http.websocket.endpoint import WebSocketEndpoint
from pegboard.servers.http.websocket.tickets import SOCKET_PATHS

_DESCRIPTION = "List, search, explain and call the tools of a board; every call is recorded."


# calls first: each route before the right one costs a call some microseconds
# pins before tools: '/tools/held' must come before '/tools/{tool}'
_MODULES = (
    execute,
    pins,
    tools,
    kill_switches,
    marketplace,
    catalogue,
    dependencies,
    plans,
    runs,
    agents,
    openai,
    chat,
    conversation_files,
    approvals,
    audit,
    overview,
    settings,
    history,
    records,
    probes,
    session,
    oidc,
    oauth_consent,
    account,
    people,
    organisations,
    services,
    keys,
    quotas,
    resources,
    bases,
    documents,
    document_history,
    credentials,
    skills,
    files,
    uploads,
    tickets,
)
"""The routes of the API, in the order in which they are compared."""
_WITH_OPEN_QUERIES = (openai, probes)
"""Clients of OpenAI's API send more than is used here, and monitors a parameter against caches."""


def build_app(
    board: Pegboard,
    *,
    start_token: str | None = None,
    is_private: bool = False,
    console: Sequence[Path] = FOLDERS,
) -> FastAPI:
    """Build the application of a board.

    Args:
        board: The board.
        start_token: A token for other processes of this user; None for none.
        is_private: Whether only that token is accepted; no browser can sign in then.
        console: Where the built web console may be.

    Raises:
        ConfigError: The token is empty.
    """
    authentication = (
        AuthenticationSettings(token=start_token, start_token=start_token)
        if is_private
        else authentication_settings(board.settings, start_token=start_token)
    )
    has_sessions = authentication.token is not None and not is_private
    sessions = BrowserSessions(authentication.token or "") if has_sessions else None
    by_token = TokenCallers(authentication.token, start_token=start_token, sessions=sessions)
    proxies = TrustedProxies(board.settings.trusted_proxies)
    mcp = McpEndpoint(board)
    socket = WebSocketEndpoint(board)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncGenerator[None]:
        if board.is_open:
            board.credentials.connections.serve()
            await board.resume_interrupted()
            yield
            await mcp.close()
            return
        async with board:
            board.credentials.connections.serve()
            await board.resume_interrupted()
            yield
            await mcp.close()

    app = FastAPI(
        title="Pegboard",
        version=version("pegboard"),
        description=_DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"logs": False},  # they would contain what callers send, whatever the settings
        lifespan=lifespan,
        middleware=[
            Middleware(ClientAddress, proxies=proxies)
            if proxies
            else Middleware(UntrustedProxyWarning),
            Middleware(SecurityHeaders),
            Middleware(
                AuthenticationMiddleware,
                settings=authentication,
                callers=BoardCallers(board, by_token),
            ),
            Middleware(RequestLimit, most=board.settings.max_requests),
            Middleware(
                BodyLimit,
                max_bytes=board.settings.max_request_bytes,
                max_part_bytes=board.settings.max_part_bytes,
            ),
            Middleware(QueryCheck, routes=_list_routes()),
        ],
        exception_handlers={
            PegboardError: answer_error,
            HTTPException: answer_framework,
            RequestValidationError: answer_invalid,
        },
    )
    app.state.board = board
    app.state.mcp = mcp
    app.state.ending = asyncio.Event()
    app.state.sessions = sessions

    async def openapi(_request: Request) -> Response:
        return JsonResponse(document(app, needs_token=authentication.token is not None))

    app.state.routes = [route for module in _MODULES for route in module.router.routes]
    for module in _MODULES:
        for prefix in ("", "/v1"):
            app.router.routes.append(_include(module, prefix))
        if module is execute:
            # MCP has its own errors; Starlette treats an instance as an ASGI application
            app.router.routes += [Route(path, mcp) for path in ("/mcp", "/mcp/{source}")]
            oauth = OAuthEndpoint(board, limit_key)
            places = (*SERVER_METADATA, RESOURCE_METADATA, f"{RESOURCE_METADATA}/mcp")
            nested = f"{RESOURCE_METADATA}/mcp/{{source}}"
            app.router.routes += [
                Route(path, oauth) for path in (f"{OAUTH}{{name}}", *places, nested)
            ]
    for prefix in ("", "/v1"):
        app.add_route(f"{prefix}/openapi.json", openapi, include_in_schema=False)
    app.state.console = ConsoleFiles(console)
    add_pages(app, needs_token=authentication.token is not None, console=app.state.console)
    app.router.routes += [Route("/ui/{path:path}", app.state.console)]
    for path in SOCKET_PATHS:
        app.router.routes += [WebSocketRoute(path, socket), Route(path, socket)]
    return app


@cache
def _list_routes() -> Sequence[tuple[APIRoute, bool]]:
    """The routes of the API, each with whether it refuses unknown query parameters.

    Undocumented ones do not: identity providers send browsers there with parameters of their own.
    """
    return [
        (route, module not in _WITH_OPEN_QUERIES and route.include_in_schema)
        for module in _MODULES
        for route in module.router.routes
        if isinstance(route, APIRoute)
    ]


@cache
def _include(module: ModuleType, prefix: str) -> BaseRoute:
    """The routes of a module under a prefix.

    FastAPI compiles them at the first request that they may match, all together in half a second.
    They hold nothing of an application, so the applications of a process share them.
    """
    parent = APIRouter()
    parent.include_router(module.router, prefix=prefix, include_in_schema=not prefix)
    (included,) = parent.routes
    return _PrefixedRoutes(prefix, included) if prefix else included


class _PrefixedRoutes(BaseRoute):
    """Routes that are compiled and compared only for a request whose path has their prefix."""

    def __init__(self, prefix: str, included: BaseRoute) -> None:
        self._prefix = f"{prefix}/"
        self._included = included

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        # the server's own root path may stand before it
        if self._prefix not in scope["path"]:
            return Match.NONE, {}
        return self._included.matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._included.handle(scope, receive, send)
