"""Builds the FastAPI application; imported only where the `server` extra is installed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route, WebSocketRoute

from pegboard.errors import PegboardError
from pegboard.runtime import Pegboard
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.mcp_endpoint import McpEndpoint
from pegboard.servers.http.middleware.authentication import (
    AuthenticationMiddleware,
    authentication_settings,
)
from pegboard.servers.http.middleware.body_limit import BodyLimit
from pegboard.servers.http.middleware.security_headers import SecurityHeaders
from pegboard.servers.http.openapi import document
from pegboard.servers.http.problem_details import answer_error, answer_framework, answer_invalid
from pegboard.servers.http.routes import (
    approvals,
    audit,
    catalogue,
    dependencies,
    execute,
    kill_switches,
    marketplace,
    pins,
    plans,
    probes,
    records,
    runs,
    tickets,
    tools,
)
from pegboard.servers.http.websocket.endpoint import WebSocketEndpoint
from pegboard.servers.http.websocket.tickets import SOCKET_PATHS, Tickets

_DESCRIPTION = "List, search, explain and call the tools of a board; every call is recorded."


def build_app(board: Pegboard) -> FastAPI:
    """Build the application of a board.

    Raises:
        ConfigError: The token is empty.
    """
    authentication = authentication_settings(board.settings)
    ticket_store = Tickets()
    mcp = McpEndpoint(board)
    socket = WebSocketEndpoint(board)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncGenerator[None]:
        if board.is_open:
            await board.runs.follow()
            yield
            await mcp.close()
            return
        async with board:
            await board.runs.follow()
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
            Middleware(SecurityHeaders),
            Middleware(AuthenticationMiddleware, settings=authentication, tickets=ticket_store),
            Middleware(BodyLimit, max_bytes=board.settings.max_request_bytes),
        ],
        exception_handlers={
            PegboardError: answer_error,
            HTTPException: answer_framework,
            RequestValidationError: answer_invalid,
        },
    )
    app.state.board = board
    app.state.mcp = mcp
    app.state.tickets = ticket_store

    async def openapi(_request: Request) -> Response:
        return JsonResponse(document(app, needs_token=authentication.token is not None))

    own = (
        catalogue,
        dependencies,
        execute,
        plans,
        runs,
        approvals,
        audit,
        records,
        probes,
        tickets,
    )
    # pins first: '/tools/held' must come before '/tools/{tool}'
    modules = (pins, tools, kill_switches, marketplace, *own)
    app.state.routes = [route for module in modules for route in module.router.routes]
    for prefix in ("", "/v1"):
        for module in modules:
            app.include_router(module.router, prefix=prefix, include_in_schema=not prefix)
        app.add_route(f"{prefix}/openapi.json", openapi, include_in_schema=False)
    # MCP has its own errors; Starlette treats an instance as an ASGI application
    app.router.routes += [Route(path, mcp) for path in ("/mcp", "/mcp/{source}")]
    for path in SOCKET_PATHS:
        app.router.routes += [WebSocketRoute(path, socket), Route(path, socket)]
    return app
