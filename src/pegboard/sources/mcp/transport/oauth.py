"""OAuth 2.1 at a server: the flow of the MCP library, with a person's login behind it."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any, cast

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.exceptions import OAuthFlowError
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from pegboard.core.ports.source_services.oauth_login import OAuthLogin
from pegboard.errors import MCPConnectionError, PegboardError
from pegboard.sources.mcp.config import OAuthAccess
from pegboard.sources.mcp.request_context import CURRENT

_EXPIRES_AT = "expires_at"
_UNKNOWN_CLIENT = ("invalid_client", "unauthorized_client")


class OAuthFlow(httpx2.Auth):
    """Adds a token to requests, and gets one where the server asks for it.

    Discovery, registration, consent, exchange, refresh and step-up are those of the MCP library
    (MCP authorization, RFC 8414, 8707, 9207, 9728); each of its requests goes through the board's
    guarded client.

    Args:
        title: The server in messages.
        url: Its endpoint.
        access: How the board is known there.
        login: The person's login.
    """

    requires_response_body = True

    def __init__(self, title: str, url: str, access: OAuthAccess, login: OAuthLogin) -> None:
        self._title = title
        self._login = login
        self._answer: AuthorizationCodeResult | None = None
        self._provider = _Provider(
            url,
            _describe_client(access, login),
            KeptTokens(login, access),
            redirect_handler=self._ask,
            callback_handler=self._give_answer,
            client_metadata_url=(access.client_url or login.client_url) or None,
        )

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The requests of a flow, around the one that needs a token."""
        context = CURRENT.get()
        flow = self._provider.async_auth_flow(request)
        try:
            sent = await anext(flow)
            while True:
                response = yield sent
                sent = await flow.asend(response)
        except StopAsyncIteration:
            return
        except (OAuthFlowError, ValidationError, PegboardError) as error:
            fault = self._fault(error)
            if context is not None:
                context.fault = fault
            raise fault from error
        finally:
            await flow.aclose()

    def _fault(self, error: Exception) -> PegboardError:
        if isinstance(error, PegboardError):
            return error
        # answers of a token endpoint may quote what was sent
        said = str(error).partition(":")[0] if isinstance(error, OAuthFlowError) else "an answer"
        return MCPConnectionError(
            f"{self._title}: the OAuth login failed: {said}. Check the server's authorization "
            "server, and the client that is configured for it.",
            permanent=True,
            nothing_done=True,
        )

    async def _ask(self, url: str) -> None:
        context = CURRENT.get()
        limit = None if context is None else context.limit
        left = None if limit is None else _remaining(limit)
        if limit is not None:
            limit.reschedule(None)  # the time limit is the server's, not the person's
        try:
            answer = await self._login.ask(url)
        finally:
            if limit is not None and left is not None:
                limit.reschedule(asyncio.get_running_loop().time() + left)
        self._answer = AuthorizationCodeResult(
            code=answer.code, state=answer.state, iss=answer.issuer
        )

    async def _give_answer(self) -> AuthorizationCodeResult:
        answer, self._answer = self._answer, None
        if answer is None:
            raise OAuthFlowError("No answer of the authorization server")
        return answer


class KeptTokens:
    """The token storage of the MCP library over a person's login."""

    def __init__(self, login: OAuthLogin, access: OAuthAccess) -> None:
        self._login = login
        self._access = access

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens, with the seconds that the first of them is still valid."""
        kept = await self._login.load()
        if not kept.get("tokens"):
            return None
        tokens = OAuthToken.model_validate(kept["tokens"])
        ends = kept.get(_EXPIRES_AT)
        if ends is not None:
            tokens.expires_in = max(0, int(ends - time.time()))
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""
        ends = None if tokens.expires_in is None else time.time() + tokens.expires_in
        await self._change(
            tokens=tokens.model_dump(mode="json", exclude_none=True), **{_EXPIRES_AT: ends}
        )

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The client that is configured, or was registered."""
        if self._access.client_id:
            secret = self._access.client_secret
            return OAuthClientInformationFull(
                client_id=self._access.client_id,
                client_secret=None if secret is None else secret.get_secret_value(),
                redirect_uris=[AnyUrl(self._login.redirect_uri)],
                token_endpoint_auth_method="none" if secret is None else "client_secret_basic",
            )
        kept = await self._login.load()
        if not kept.get("client"):
            return None
        return OAuthClientInformationFull.model_validate(kept["client"])

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a registration."""
        if not self._access.client_id:
            await self._change(client=client_info.model_dump(mode="json", exclude_none=True))

    async def forget_client(self) -> bool:
        """Forget a registration; whether there was one, and not a client that is configured."""
        if self._access.client_id:
            return False
        await self._change(client=None)
        return True

    async def _change(self, **changes: Any) -> None:
        kept: Mapping[str, Any] = await self._login.load()
        await self._login.save({**kept, **changes})


class _Provider(OAuthClientProvider):
    """The flow of the MCP library; it knows from the first request when kept tokens expire.

    A registration that the authorization server does not know any more is made again.
    """

    def __init__(self, url: str, about: OAuthClientMetadata, kept: KeptTokens, **ways: Any) -> None:
        super().__init__(url, about, kept, **ways)
        self._kept = kept

    async def _handle_refresh_response(self, response: httpx2.Response) -> bool:
        if await _is_of_unknown_client(response) and await self._kept.forget_client():
            self.context.client_info = None
        return await super()._handle_refresh_response(response)

    async def _initialize(self) -> None:
        await super()._initialize()
        if self.context.current_tokens is not None:
            self.context.update_token_expiry(self.context.current_tokens)


def _describe_client(access: OAuthAccess, login: OAuthLogin) -> OAuthClientMetadata:
    return OAuthClientMetadata(
        client_name="Pegboard",
        redirect_uris=[AnyUrl(login.redirect_uri)],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        scope=" ".join(access.scopes) or None,
    )


async def _is_of_unknown_client(response: httpx2.Response) -> bool:
    if not 400 <= response.status_code < 500:
        return False
    try:
        answer = json.loads(await response.aread())
    except (ValueError, RecursionError):
        return False
    error = cast("dict[str, Any]", answer).get("error") if isinstance(answer, dict) else None
    return error in _UNKNOWN_CLIENT


def _remaining(limit: asyncio.Timeout) -> float | None:
    when = limit.when()
    return None if when is None else max(0.0, when - asyncio.get_running_loop().time())
