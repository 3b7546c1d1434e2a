"""ASGI middleware: authenticates callers by token or session, or accepts only local callers."""

import hmac
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from pegboard.core.ports.authenticator import BrowserSession
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import ConfigError
from pegboard.runtime import Settings
from pegboard.servers.http.browser_sessions import (
    COOKIE,
    CSRF_HEADER,
    BrowserSessions,
)
from pegboard.servers.http.problem_details import problem_response
from pegboard.servers.http.websocket.tickets import SOCKET_PATHS, Tickets, take_ticket

TOKEN_HOLDER = Principal(id="token", kind="service", scopes=frozenset({"*"}))
OPEN_PATHS = frozenset({"/", "/docs", "/healthz", "/readyz", "/v1/healthz", "/v1/readyz"})
"""Static pages and probes need no token; without one the probes report less."""

_SIGN_IN = frozenset({"/session", "/v1/session"})
_SESSION_ROOT = "/v1/"
"""Below this path the cookie is accepted, and browsers send it nowhere else: not to `/mcp`."""
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
    """

    token: str | None = field(repr=False)
    start_token: str | None = field(default=None, repr=False)
    hosts: frozenset[str] = frozenset()
    public_origin: str = ""


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
    )


class AuthenticationMiddleware:
    """ASGI middleware: sets the caller of a request, or responds with 401 or 403.

    A change that a page of another origin asks for is refused unless it carries the token: browsers
    send cookies, and requests to a local server, on behalf of any page.

    Args:
        app: The application behind it.
        settings: How callers are authenticated.
        tickets: Tickets that a WebSocket may send instead of the token; None for none.
        sessions: Sessions that a browser may send instead of the token; None for none.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: AuthenticationSettings,
        *,
        tickets: Tickets | None = None,
        sessions: BrowserSessions | None = None,
    ) -> None:
        self._app = app
        self._tickets = tickets or Tickets()
        self._sessions = sessions
        self._public_origin = settings.public_origin
        self._token = None if settings.token is None else settings.token.encode()
        self._start_token = (settings.start_token or "").encode()
        self._hosts = settings.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        is_socket = scope["type"] == "websocket"
        headers = Headers(scope=scope)
        is_change = not is_socket and scope["method"] not in _SAFE
        principal, refusal = self._judge(headers, is_socket=is_socket)
        session = None if is_socket or principal is not None else self._session_of(scope, headers)
        if session is not None:
            is_meant = not is_change or _is_meant(headers, session)
            principal, refusal = (TOKEN_HOLDER, _NO_TOKEN) if is_meant else (None, _NO_CSRF)
        is_open = not is_socket and _is_open(scope["path"])
        if is_change and "authorization" not in headers and self._is_foreign(headers):
            refusal = _NOT_OUR_PAGE if principal is not None or is_open else refusal
            principal, is_open = None, False
        ticket = take_ticket(scope) if scope["path"] in SOCKET_PATHS else None
        may_bring = is_socket and (principal is not None or self._token is not None)
        if ticket is not None and may_bring:
            principal = self._tickets.redeem(ticket, origin=headers.get("origin"))
            refusal = _WRONG_TICKET
        if principal is None and not is_open:
            if is_socket and "websocket.http.response" not in scope.get("extensions", {}):
                await send({"type": "websocket.close", "code": 1008})
            else:
                await refusal(scope, receive, send)
            return
        scope.setdefault("state", {}).update(principal=principal, session=session)
        await self._app(scope, receive, send)

    def _judge(self, headers: Headers, *, is_socket: bool) -> tuple[Principal | None, ASGIApp]:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        sent = given.strip().encode("latin-1") if scheme.lower() == "bearer" else b""
        if self._start_token and hmac.compare_digest(sent, self._start_token):
            return LOCAL, _NO_TOKEN
        if self._token is None:
            if not self._is_local(headers):
                return None, _NOT_LOCAL
            return (
                (None, _NOT_OURS) if is_socket and _is_elsewhere(headers) else (LOCAL, _NOT_LOCAL)
            )
        if sent and hmac.compare_digest(sent, self._token):
            return TOKEN_HOLDER, _NO_TOKEN
        return None, _WRONG_TOKEN if given else _NO_TOKEN

    def _session_of(self, scope: Scope, headers: Headers) -> BrowserSession | None:
        """The session of a request without the token.

        Cookies of other programs on this host come too, whatever port they listen on: an odd one,
        or one of the same name, hides no session.
        """
        is_there = scope["path"].startswith(_SESSION_ROOT) and "authorization" not in headers
        if self._sessions is None or not is_there or COOKIE not in headers.get("cookie", ""):
            return None
        pairs = (part.strip().partition("=") for part in headers["cookie"].split(";"))
        found = (self._sessions.read(value) for name, _, value in pairs if name == COOKIE)
        return next((session for session in found if session is not None), None)

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


def _is_elsewhere(headers: Headers) -> bool:
    """Whether the request comes from a page of another origin, including other local ports.

    Browsers let any page open a WebSocket, or send a request without a body, and ask nobody first.
    """
    origin = headers.get("origin")
    host = headers.get("host", "").lower()
    return origin is not None and origin.rpartition("://")[2].lower() != host


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path in _SIGN_IN or path == "/ui" or path.startswith("/ui/")


def _is_meant(headers: Headers, session: BrowserSession) -> bool:
    """Whether the console itself has made this request, and not a form or link of another page."""
    sent = headers.get(CSRF_HEADER, "").encode("latin-1", "replace")
    return hmac.compare_digest(sent, session.csrf.encode())


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
    "The token is not valid.",
    headers={"WWW-Authenticate": 'Bearer realm="pegboard", error="invalid_token"'},
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
