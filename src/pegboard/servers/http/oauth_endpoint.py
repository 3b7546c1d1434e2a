"""`/oauth` and its metadata, for MCP clients; imports the SDK with the first request."""

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.errors import ConfigError, InvalidRequest
from pegboard.runtime import Pegboard
from pegboard.servers.extras import require_mcp_extra
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.problem_details import error_response, problem_response
from pegboard.servers.http.public_address import find_public_url

if TYPE_CHECKING:
    from pegboard.servers.mcp.oauth import OAuthHandlers

RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
SERVER_METADATA = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
OAUTH = "/oauth/"

_ORIGIN = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, MCP-Protocol-Version",
}
"""No cookie is read here, so pages of any origin may ask: some MCP clients are pages."""


def is_oauth_path(path: str) -> bool:
    """Whether a path is open to clients that have no token yet."""
    return path.startswith((OAUTH, RESOURCE_METADATA, *SERVER_METADATA))


class OAuthEndpoint:
    """ASGI application of the authorization server, once there are accounts.

    Args:
        board: Open by the time of the first request.
        limit_key: What the limits of an address count a request by.
    """

    def __init__(self, board: Pegboard, limit_key: Callable[[Scope], str]) -> None:
        self._limit_key = limit_key
        self._board = board
        self._handlers: OAuthHandlers | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        if request.method == "OPTIONS":
            answer: ASGIApp = Response(status_code=204)
        else:
            answer = await self._answer(request)
        await answer(scope, receive, _with_origin(send))

    async def _answer(self, request: Request) -> ASGIApp:
        if not self._board.is_open or not self._board.identity.has_accounts:
            return problem_response(404, "This server has no accounts.")
        try:
            handlers = await self._open()
        except ConfigError as error:
            return problem_response(501, error.message, code="extra_missing")
        except InvalidRequest as error:
            return error_response(error)
        path = request.scope["path"]
        if path.startswith(OAUTH):
            found = await handlers.handle(
                path.removeprefix(OAUTH), request, asked_from=self._limit_key(request.scope)
            )
            return problem_response(404, "There is nothing here.") if found is None else found
        is_resource = path.startswith(RESOURCE_METADATA)
        found = handlers.describe_resource() if is_resource else handlers.describe_server()
        return JsonResponse(found)

    async def _open(self) -> "OAuthHandlers":
        grants, url = self._board.identity.oauth, find_public_url(self._board.settings)
        if self._handlers is None:
            require_mcp_extra()
            await asyncio.to_thread(import_module, "pegboard.servers.mcp.oauth")
            from pegboard.servers.mcp.oauth import OAuthHandlers

            self._handlers = OAuthHandlers(grants, url)
        return self._handlers


def _with_origin(send: Send) -> Send:
    async def send_with_origin(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(_ORIGIN)
        await send(message)

    return send_with_origin
