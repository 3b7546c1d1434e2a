"""The token of a caller with each request to a server, renewed where the server refuses it."""

from collections.abc import Callable
from http import HTTPStatus

import httpx2

from pegboard.core.credential import CallCredential, Secret
from pegboard.core.oauth_challenge import find_missing_scopes
from pegboard.errors import PegboardError
from pegboard.sources.mcp.request_context import CURRENT
from pegboard.sources.mcp.transport.guarded_http import GuardedTransport


class CallerTokenTransport(httpx2.AsyncBaseTransport):
    """Adds the token of a caller to the requests of a session.

    A token that the server refuses (401) is renewed once; a request that lacks a scope (403) leads
    to another consent. As in the transport below, an error becomes the answer to the one request.

    Args:
        inner: Sends the requests.
        find: The credential of the latest call on the session, for requests of none.
    """

    def __init__(self, inner: GuardedTransport, find: Callable[[], CallCredential]) -> None:
        self._inner = inner
        self._find = find

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request, and once more where its token is refused."""
        context = CURRENT.get()
        ctx, use = None if context is None else context.ctx, self._find()
        own = None if ctx is None else ctx.credential
        if own is not None and own.about.id == use.about.id:
            use = own  # its call masks what it reveals
        try:
            secret = await use.reveal()
            response = await self._inner.handle_async_request(_sign(request, secret))
            if response.status_code == HTTPStatus.UNAUTHORIZED:
                renewed = await use.renew(secret)
                if renewed is not None:
                    response = await self._inner.handle_async_request(_sign(request, renewed))
            if response.status_code == HTTPStatus.UNAUTHORIZED:
                await use.give_up()
            if response.status_code == HTTPStatus.FORBIDDEN:
                scopes = find_missing_scopes(response.headers.get("www-authenticate", ""))
                if scopes:
                    await use.extend(scopes)
        except PegboardError as error:
            return self._inner.respond(request, error)
        return response


def _sign(request: httpx2.Request, secret: Secret) -> httpx2.Request:
    request.headers["Authorization"] = f"Bearer {secret.sent}"
    return request
