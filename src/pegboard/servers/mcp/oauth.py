"""Pegboard as the OAuth authorization server of its MCP endpoint; imports the SDK."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    IdentityAssertionParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl
from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pegboard.errors import InvalidRequest
from pegboard.features.identity.oauth_clients import OAuthClient, matches_redirect
from pegboard.features.identity.oauth_grants import (
    SCOPES,
    OAuthGrants,
    OAuthRequest,
    OAuthTokens,
)

CONSENT = "/ui/consent"
"""The page of the console on which a person decides."""

_SCOPE = " ".join(SCOPES)
_PUBLIC = "none"


class KnownClient(OAuthClientInformationFull):
    """A client as the SDK wants it; on a person's own machine it may listen on any port."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """The redirect of a request."""
        known = [str(item) for item in self.redirect_uris or ()]
        if redirect_uri is None and len(known) == 1:
            return AnyUrl(known[0])
        given = str(redirect_uri or "")
        if not any(matches_redirect(given, item) for item in known):
            raise InvalidRedirectUriError(f"Redirect URI '{given}' is not one of the client's.")
        return AnyUrl(given)


class AccountsProvider(
    OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]
):
    """The SDK's provider over the accounts of a board.

    Args:
        grants: What people let clients do.
        url: The public address.
        sent: The parameters of the request, of which the SDK does not pass on all.
        asked_from: Where the request comes from, for the limit of clients that are looked up.
    """

    def __init__(
        self, grants: OAuthGrants, url: str, *, sent: QueryParams | FormData, asked_from: str
    ) -> None:
        self._sent = sent
        self._asked_from = asked_from
        self._grants = grants
        self._url = url
        self._resource = f"{url}/mcp"

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        found = await self._grants.clients.find(client_id, asked_from=self._asked_from)
        return None if found is None else _to_known(found)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        client_info.token_endpoint_auth_method = _PUBLIC  # PKCE proves the client
        client_info.client_secret = client_info.client_secret_expires_at = None
        client = OAuthClient(
            id=client_info.client_id,
            name=client_info.client_name or "An MCP client",
            redirects=tuple(str(item) for item in client_info.redirect_uris or ()),
        )
        try:
            await self._grants.clients.register(client)
        except InvalidRequest as error:
            raise RegistrationError("invalid_redirect_uri", error.message) from error

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        if not self._is_for_this_resource():
            raise AuthorizeError("invalid_target", f"The resource is {self._resource}.")
        if "code_challenge_method" not in self._sent:  # which means `plain` (RFC 7636)
            raise AuthorizeError("invalid_request", "The code_challenge_method has to be S256.")
        request = OAuthRequest(
            client=client.client_id,
            name=client.client_name or "",
            redirect=str(params.redirect_uri),
            is_redirect_named=params.redirect_uri_provided_explicitly,
            state=params.state or "",
            challenge=params.code_challenge,
            scopes=tuple(params.scopes or SCOPES),
            resource=self._resource,
        )
        return f"{self._url}{CONSENT}#request={await self._grants.ask(request)}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        found = await self._grants.read_code(authorization_code, client.client_id)
        if found is None:
            return None
        request, expires_at = found
        return AuthorizationCode(
            code=authorization_code,
            scopes=list(request.scopes),
            expires_at=expires_at,
            client_id=request.client,
            code_challenge=request.challenge,
            redirect_uri=AnyUrl(request.redirect),
            redirect_uri_provided_explicitly=request.is_redirect_named,
            resource=request.resource,
            subject=request.user,
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        self._check_resource()
        try:
            return _to_token(await self._grants.redeem(authorization_code.code, client.client_id))
        except InvalidRequest as error:  # the person has too many keys
            raise TokenError("invalid_request", error.message) from error

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        found = await self._grants.read_refresh(refresh_token, client.client_id)
        if found is None:
            return None
        return RefreshToken(
            token=refresh_token,
            client_id=found.client,
            scopes=list(found.scopes),
            resource=found.resource,
        )

    async def exchange_refresh_token(
        self,
        client: OAuthClientInformationFull,
        refresh_token: RefreshToken,
        scopes: list[str],
    ) -> OAuthToken:
        self._check_resource()
        del scopes  # the key keeps those that its person has agreed to
        return _to_token(await self._grants.renew(refresh_token.token, client.client_id))

    async def load_access_token(self, token: str) -> AccessToken | None:
        key = await self._grants.read_access(token)
        if key is None:
            return None
        return AccessToken(
            token=token, client_id=key.client, scopes=list(key.scopes), resource=key.audience
        )

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        await self._grants.revoke(token.token, token.client_id)

    async def exchange_identity_assertion(
        self, client: OAuthClientInformationFull, params: IdentityAssertionParams
    ) -> OAuthToken:
        del client, params
        raise TokenError("unsupported_grant_type")

    def _check_resource(self) -> None:
        """Refuse a token for another resource, before the code or the token is used up."""
        if not self._is_for_this_resource():
            raise TokenError("invalid_target", f"The resource is {self._resource}.")

    def _is_for_this_resource(self) -> bool:
        """Whether each resource that the request names is the MCP endpoint (RFC 8707)."""
        named = [str(item).rstrip("/") for item in self._sent.getlist("resource") if item]
        return all(it == self._resource or it.startswith(f"{self._resource}/") for it in named)


class OAuthHandlers:
    """The endpoints of the authorization server.

    Args:
        grants: What people let clients do.
        url: The public address, which is the issuer.
    """

    def __init__(self, grants: OAuthGrants, url: str) -> None:
        self._url = url
        self._grants = grants
        self._registration = ClientRegistrationOptions(
            enabled=True, valid_scopes=list(SCOPES), default_scopes=list(SCOPES)
        )

    async def handle(self, name: str, request: Request, *, asked_from: str) -> Response | None:
        """Answer a request to an endpoint; None where there is none of this name.

        Args:
            name: Of the endpoint.
            request: To it.
            asked_from: Where it comes from, for limits.
        """
        sent = await request.form() if request.method == "POST" else request.query_params
        provider = AccountsProvider(self._grants, self._url, sent=sent, asked_from=asked_from)
        match name, request.method:
            case "authorize", "GET" | "POST":
                return self._name_issuer(await AuthorizationHandler(provider).handle(request))
            case "token", "POST":
                return await TokenHandler(provider, ClientAuthenticator(provider)).handle(request)
            case "revoke", "POST":
                return await self._revoke(request, ClientAuthenticator(provider))
            case "register", "POST" if self._grants.clients.registration:
                return await RegistrationHandler(provider, self._registration).handle(request)
            case _:
                return None

    def _name_issuer(self, response: Response) -> Response:
        """The answer to a client, with the issuer in an error that it is sent (RFC 9207)."""
        location = response.headers.get("location", "")
        if location and not location.startswith(f"{self._url}{CONSENT}#"):
            response.headers["location"] = construct_redirect_uri(location, iss=self._url)
        return response

    async def _revoke(self, request: Request, authenticator: ClientAuthenticator) -> Response:
        """Give a token back (RFC 7009); the SDK's handler wants a secret, which nobody has."""
        try:
            client = await authenticator.authenticate_request(request)
        except AuthenticationError as error:
            answer = {"error": "invalid_client", "error_description": error.message}
            return JSONResponse(answer, 401)
        token = (await request.form()).get("token")
        if not isinstance(token, str):
            return JSONResponse({"error": "invalid_request"}, 400)
        await self._grants.revoke(token, client.client_id)
        return Response(status_code=200, headers={"Cache-Control": "no-store"})

    def describe_server(self) -> Mapping[str, Any]:
        """The metadata of the authorization server (RFC 8414)."""
        url = f"{self._url}/oauth"
        metadata: dict[str, Any] = {
            "issuer": self._url,
            "authorization_endpoint": f"{url}/authorize",
            "token_endpoint": f"{url}/token",
            "revocation_endpoint": f"{url}/revoke",
            "scopes_supported": list(SCOPES),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": [_PUBLIC],
            "revocation_endpoint_auth_methods_supported": [_PUBLIC],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": True,
        }
        if self._grants.clients.registration:
            metadata["registration_endpoint"] = f"{url}/register"
        return metadata

    def describe_resource(self) -> Mapping[str, Any]:
        """The metadata of the MCP endpoint (RFC 9728)."""
        return {
            "resource": f"{self._url}/mcp",
            "authorization_servers": [self._url],
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "Pegboard",
        }


def build_redirect(request: OAuthRequest, code: str, issuer: str) -> str:
    """Where a person is sent back to, with a code or with what was refused."""
    answer = {"code": code} if code else {"error": "access_denied"}
    if request.state:
        answer["state"] = request.state
    joint = "&" if urlsplit(request.redirect).query else "?"
    return f"{request.redirect}{joint}{urlencode({**answer, 'iss': issuer})}"


def _to_known(client: OAuthClient) -> KnownClient:
    return KnownClient(
        client_id=client.id,
        client_name=client.name,
        redirect_uris=[AnyUrl(item) for item in client.redirects],
        token_endpoint_auth_method=_PUBLIC,
        scope=_SCOPE,
    )


def _to_token(tokens: OAuthTokens | None) -> OAuthToken:
    if tokens is None:
        raise TokenError("invalid_grant")
    return OAuthToken(
        access_token=tokens.access,
        refresh_token=tokens.refresh,
        expires_in=int(tokens.expires_in),
        scope=" ".join(tokens.scopes),
    )
