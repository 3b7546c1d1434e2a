"""ASGI middleware: authenticates callers by token or session, or accepts only local callers."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.core.ports.authenticator import (
    AuthenticatedCaller,
    Authenticator,
    BrowserSession,
    Refusal,
    SentCredentials,
)
from pegboard.errors import ConfigError, InvalidRequest, PegboardError
from pegboard.runtime import Settings
from pegboard.servers.http.browser_sessions import COOKIE, CSRF_HEADER
from pegboard.servers.http.callers import TokenCallers
from pegboard.servers.http.middleware.client_address import browser_client
from pegboard.servers.http.middleware.live_requests import LiveRequests
from pegboard.servers.http.oauth_endpoint import RESOURCE_METADATA, is_oauth_path
from pegboard.servers.http.problem_details import error_answer, problem_response
from pegboard.servers.http.public_address import find_public_url
from pegboard.servers.http.websocket.tickets import SOCKET_PATHS, take_ticket

OPEN_PATHS = frozenset({"/", "/docs", "/healthz", "/readyz", "/v1/healthz", "/v1/readyz"})
"""Static pages and probes need no token; without one the probes report less."""

_SIGN_IN = frozenset({"/session", "/v1/session"})
_OIDC = frozenset({"/session/oidc", "/v1/session/oidc", "/session/oidc/callback"})
_PROVIDER = _OIDC | {"/v1/session/oidc/callback"}
"""Where a browser goes to an identity provider and comes back, with GET."""
_JOIN = frozenset({"/people/join", "/v1/people/join", "/people/link", "/v1/people/link"})
"""Where a person who has no account yet opens a link, with POST."""
_MAKES_LINK = frozenset({"/people/links", "/v1/people/links"})
_SESSION_ROOT = "/v1/"
"""Below this path the cookie is accepted, and browsers send it nowhere else: not to `/mcp`."""
_CLIENT_DOCUMENT = "/v1/credentials/oauth/client/"
"""What authorization servers read about this board, with GET; the same for every caller."""
_CONSENT = ("/v1/credentials/oauth/connect", "/v1/credentials/oauth/callback")
"""Pages on which a person connects an account, with GET; they tell a stranger to sign in."""
_CALLBACKS = "/v1/credentials/oauth/callback/"
"""Below it are those of single sources."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

_ANY_ADDRESS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - refused as a name, not listened on


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationSettings:
    """How callers are authenticated.

    Attributes:
        token: The token that callers must send; None accepts local callers without one.
        start_token: A token of this start for the principal `local`; None for none.
        hosts: Host names that a server without a token accepts, in addition to loopback.
        public_origin: The origin of pages behind a reverse proxy; empty for that of `Host`.
        public_url: The address of the server, for OAuth; empty where it is not known.
    """

    token: str | None = field(repr=False)
    start_token: str | None = field(default=None, repr=False)
    hosts: frozenset[str] = frozenset()
    public_origin: str = ""
    public_url: str = ""


def authentication_settings(
    settings: Settings, *, start_token: str | None = None
) -> AuthenticationSettings:
    """Read the authentication settings of a server.

    Raises:
        ConfigError: The token is empty.
    """
    token = settings.token.get_secret_value() if settings.token is not None else None
    if token is not None and not token.strip():
        raise ConfigError("PEGBOARD_TOKEN is empty: set a long random text, or unset it")
    return AuthenticationSettings(
        token=token,
        start_token=start_token,
        hosts=frozenset({settings.host.lower()}) - _ANY_ADDRESS,
        public_origin=_origin_of(settings.public_url),
        public_url=_public_url_of(settings),
    )


class AuthenticationMiddleware:
    """ASGI middleware: sets the caller of a request, or responds with 401 or 403.

    A change that a page of another origin asks for is refused unless it carries the token: browsers
    send cookies, and requests to a local server, on behalf of any page.

    Args:
        app: The application behind it.
        settings: How callers are authenticated.
        callers: Names the caller; None takes those of the settings, without accounts.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: AuthenticationSettings,
        *,
        callers: Authenticator | None = None,
    ) -> None:
        self._app = app
        self._callers = callers or TokenCallers(settings.token, start_token=settings.start_token)
        self._live = LiveRequests(self._callers, refusal=_WRONG_TOKEN)
        self._public_origin = settings.public_origin
        self._hosts = settings.hosts
        self._resource = f"{settings.public_url}/mcp" if settings.public_url else ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        is_socket = scope["type"] == "websocket"
        headers = Headers(scope=scope)
        is_change = not is_socket and scope["method"] not in _SAFE
        caller, refusal = await self._identify(scope, headers)
        session = None if caller is None else caller.session
        if session is not None and is_change:
            if not _is_meant(headers, session):
                caller, refusal = None, _NO_CSRF
            elif "origin" not in headers:
                caller, refusal = None, _NO_ORIGIN
        is_oauth = not is_socket and is_oauth_path(scope["path"])
        is_open = is_oauth or (not is_socket and _is_open(scope["method"], scope["path"]))
        is_cookieless = is_oauth or "authorization" in headers
        if is_change and not is_cookieless and self._is_foreign(headers):
            refusal = _NOT_OUR_PAGE if caller is not None or is_open else refusal
            caller, is_open = None, False
        ticket = take_ticket(scope) if scope["path"] in SOCKET_PATHS else None
        may_bring = is_socket and (caller is not None or refusal in _WITHOUT_TOKEN)
        if ticket is not None and may_bring:
            caller, refusal = await self._redeem(ticket, headers)
        if caller is None and not is_open:
            if is_socket and "websocket.http.response" not in scope.get("extensions", {}):
                await send({"type": "websocket.close", "code": 1008})
            else:
                await refusal(scope, receive, self._with_metadata(scope, send))
            return
        state = scope.setdefault("state", {})
        if caller is None:
            state.update(principal=None, session=None, credential="")
            await self._app(scope, receive, send)
            return
        state.update(
            principal=caller.principal, session=caller.session, credential=caller.credential
        )
        await self._live.run(self._app, scope, receive, send, caller=caller)

    async def _identify(
        self, scope: Scope, headers: Headers
    ) -> tuple[AuthenticatedCaller | None, ASGIApp]:
        """The caller, or the answer to a request without one."""
        is_socket = scope["type"] == "websocket"
        if len(headers.getlist("authorization")) > 1:
            return None, _TWO_TOKENS
        cookies = () if is_socket else _read_cookies(scope, headers)
        sent = SentCredentials(
            bearer=_read_bearer(headers),
            cookies=cookies,
            is_local=self._is_local(headers),
            is_foreign_page=is_socket and _is_elsewhere(headers),
            resource=self._resource if _is_mcp(scope["path"]) else "",
            makes_link=scope["path"] in _MAKES_LINK,
            client=browser_client(scope) if cookies else None,
        )
        try:
            found = await self._callers.identify(sent)
        except PegboardError as error:  # the accounts cannot be read: nobody is let in
            return None, error_answer(error).response()
        if isinstance(found, AuthenticatedCaller):
            return found, _NO_TOKEN
        return None, _REFUSALS[found]

    async def _redeem(
        self, ticket: str, headers: Headers
    ) -> tuple[AuthenticatedCaller | None, ASGIApp]:
        try:
            found = await self._callers.redeem(ticket, origin=headers.get("origin"))
        except PegboardError as error:  # the tickets cannot be read
            return None, error_answer(error).response()
        return found, _WRONG_TICKET

    def _with_metadata(self, scope: Scope, send: Send) -> Send:
        """Tell a client that was refused at `/mcp` where it gets a token (RFC 9728)."""
        is_told = self._callers.has_accounts and _is_mcp(scope["path"])
        if not self._resource or not is_told:
            return send
        origin, _, path = self._resource.partition("://")
        host, slash, path = path.partition("/")
        place = f"{origin}://{host}{RESOURCE_METADATA}{slash}{path}"

        async def send_with_metadata(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 401:
                headers = MutableHeaders(scope=message)
                known = headers.get("www-authenticate", "Bearer")
                headers["www-authenticate"] = f'{known}, resource_metadata="{place}"'
            await send(message)

        return send_with_metadata

    def _is_foreign(self, headers: Headers) -> bool:
        """Whether a page of another origin asks, other ports of this machine included."""
        origin = headers.get("origin", "").lower()
        return origin not in {"", self._public_origin} and _is_elsewhere(headers)

    def _is_local(self, headers: Headers) -> bool:
        """Whether `Host` and `Origin` are local names.

        This prevents DNS rebinding: a web page can make a browser resolve the page's own name to
        this machine, but `Host` and `Origin` still have that name.
        """
        origin = headers.get("origin")
        names = [headers.get("host", "")]
        if origin is not None:
            names.append(origin.rpartition("://")[2])
        return all(self._is_ours(_without_port(name)) for name in names)

    def _is_ours(self, host: str) -> bool:
        if host in self._hosts or host == "localhost":
            return True
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return False


def _read_bearer(headers: Headers) -> str | None:
    """What a bearer token was sent; empty for another scheme, None without the header."""
    header = headers.get("authorization")
    if header is None:
        return None
    scheme, _, given = header.partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def _read_cookies(scope: Scope, headers: Headers) -> tuple[str, ...]:
    """The session cookies of a request without a token.

    Cookies of other programs on this host come too, whatever port they listen on.
    """
    is_there = scope["path"].startswith(_SESSION_ROOT) and "authorization" not in headers
    if not is_there or COOKIE not in headers.get("cookie", ""):
        return ()
    pairs = (part.strip().partition("=") for part in headers["cookie"].split(";"))
    return tuple(value for name, _, value in pairs if name == COOKIE)


def _is_elsewhere(headers: Headers) -> bool:
    """Whether the request comes from a page of another origin, including other local ports.

    Browsers let any page open a WebSocket, or send a request without a body, and ask nobody first.
    """
    origin = headers.get("origin")
    host = headers.get("host", "").lower()
    return origin is not None and origin.rpartition("://")[2].lower() != host


def _is_open(method: str, path: str) -> bool:
    if path in _JOIN:
        return method == "POST"
    if path in _PROVIDER or path in _CONSENT or path.startswith((_CLIENT_DOCUMENT, _CALLBACKS)):
        return method in _SAFE
    return path in OPEN_PATHS or path in _SIGN_IN or path == "/ui" or path.startswith("/ui/")


def _is_meant(headers: Headers, session: BrowserSession) -> bool:
    """Whether the console itself has made this request, and not a form or link of another page."""
    sent = headers.get(CSRF_HEADER, "").encode("latin-1", "replace")
    return hmac.compare_digest(sent, session.csrf.encode())


def _is_mcp(path: str) -> bool:
    return path == "/mcp" or path.startswith("/mcp/")


def _public_url_of(settings: Settings) -> str:
    try:
        return find_public_url(settings)
    except InvalidRequest:  # beyond loopback without PEGBOARD_PUBLIC_URL: no OAuth
        return ""


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower() if url else ""


def _without_port(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


_NO_TOKEN = problem_response(
    401,
    "This needs the header 'Authorization: Bearer TOKEN'.",
    headers={"WWW-Authenticate": 'Bearer realm="pegboard"'},
)
_WRONG_TOKEN = problem_response(
    401,
    "The token is not valid: it is wrong, has expired or was revoked.",
    headers={"WWW-Authenticate": 'Bearer realm="pegboard", error="invalid_token"'},
)
_TWO_TOKENS = problem_response(
    401,
    "The request has several 'Authorization' headers: send one.",
    headers={"WWW-Authenticate": 'Bearer realm="pegboard", error="invalid_request"'},
)
_WRONG_TICKET = problem_response(
    401,
    "The ticket is invalid, has expired or was used before: get a new one with "
    "'POST /ws/tickets' for each connection.",
    headers={"WWW-Authenticate": 'Bearer realm="pegboard", error="invalid_token"'},
)
_NO_CSRF = problem_response(
    403,
    "A change with a session needs the header 'X-Pegboard-CSRF' with the 'csrf' of 'GET /session'.",
    code="csrf_token_missing",
)
_NO_ORIGIN = problem_response(
    403,
    "A change with a session needs the header 'Origin', which browsers send: a program sends a key "
    "instead of a cookie.",
    code="origin_missing",
)
_NOT_OUR_PAGE = problem_response(
    403,
    "Pages of another origin may change nothing here. Behind a reverse proxy, set "
    "PEGBOARD_PUBLIC_URL to the address that browsers use.",
    code="origin_not_allowed",
)
_NOT_LOCAL = problem_response(
    403,
    "A server without PEGBOARD_TOKEN answers only under a local name, such as localhost.",
    code="host_not_allowed",
)
_NOT_OURS = problem_response(
    403,
    "A server without PEGBOARD_TOKEN accepts no WebSocket from a page of another origin.",
    code="origin_not_allowed",
)
_ACCOUNTS = problem_response(
    401,
    "This server has accounts, and does not accept its token any more: sign in, or send the key of "
    "an account. 'pegboard login' makes a key; 'pegboard people link HANDLE' on the machine of the "
    "server makes a link for a new password.",
    code="accounts_needed",
    headers={"WWW-Authenticate": 'Bearer realm="pegboard", error="invalid_token"'},
)
_SIGN_IN_NEEDED = problem_response(
    401,
    "This server has accounts: sign in, or send the key of an account with the header "
    "'Authorization: Bearer KEY'. 'pegboard login' makes a key.",
    code="accounts_needed",
    headers={"WWW-Authenticate": 'Bearer realm="pegboard"'},
)
_REFUSALS: Mapping[Refusal, ASGIApp] = {
    "no_token": _NO_TOKEN,
    "wrong_token": _WRONG_TOKEN,
    "not_local": _NOT_LOCAL,
    "foreign_page": _NOT_OURS,
    "accounts": _ACCOUNTS,
    "sign_in": _SIGN_IN_NEEDED,
}
_WITHOUT_TOKEN = (_NO_TOKEN, _WRONG_TOKEN, _ACCOUNTS, _SIGN_IN_NEEDED)
"""Refusals of a WebSocket that may bring a ticket instead."""
