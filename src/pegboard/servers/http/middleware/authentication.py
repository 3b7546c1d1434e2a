"""ASGI middleware: authenticates callers by token, or accepts only local callers."""

import hmac
from dataclasses import dataclass, field
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import ConfigError
from pegboard.runtime import Settings
from pegboard.servers.http.problem_details import problem_response
from pegboard.servers.http.websocket.tickets import SOCKET_PATHS, Tickets, take_ticket

TOKEN_HOLDER = Principal(id="token", kind="service", scopes=frozenset({"*"}))
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/v1/healthz", "/v1/readyz"})
"""Probes need no token; without one they report less."""

_ANY_ADDRESS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - refused as a name, not listened on


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationSettings:
    """How callers are authenticated.

    Attributes:
        token: The token that callers must send; None accepts local callers without one.
        hosts: Host names that a server without a token accepts, in addition to loopback.
    """

    token: str | None = field(repr=False)
    hosts: frozenset[str] = frozenset()


def authentication_settings(settings: Settings) -> AuthenticationSettings:
    """Read the authentication settings of a server.

    Raises:
        ConfigError: The token is empty.
    """
    token = settings.token.get_secret_value() if settings.token is not None else None
    if token is not None and not token.strip():
        raise ConfigError("PEGBOARD_TOKEN is empty: set a long random text, or unset it")
    return AuthenticationSettings(
        token=token, hosts=frozenset({settings.host.lower()}) - _ANY_ADDRESS
    )


class AuthenticationMiddleware:
    """ASGI middleware: sets the caller of a request, or responds with 401 or 403.

    Args:
        app: The application behind it.
        settings: How callers are authenticated.
        tickets: Tickets that a WebSocket may send instead of the token; None for none.
    """

    def __init__(
        self, app: ASGIApp, settings: AuthenticationSettings, *, tickets: Tickets | None = None
    ) -> None:
        self._app = app
        self._tickets = tickets or Tickets()
        self._token = None if settings.token is None else settings.token.encode()
        self._hosts = settings.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        is_socket = scope["type"] == "websocket"
        headers = Headers(scope=scope)
        principal, refusal = self._judge(headers, is_socket=is_socket)
        ticket = take_ticket(scope) if scope["path"] in SOCKET_PATHS else None
        may_bring = is_socket and (principal is not None or self._token is not None)
        if ticket is not None and may_bring:
            principal = self._tickets.redeem(ticket, origin=headers.get("origin"))
            refusal = _WRONG_TICKET
        if principal is None and (is_socket or scope["path"] not in OPEN_PATHS):
            if is_socket and "websocket.http.response" not in scope.get("extensions", {}):
                await send({"type": "websocket.close", "code": 1008})
            else:
                await refusal(scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = principal
        await self._app(scope, receive, send)

    def _judge(self, headers: Headers, *, is_socket: bool) -> tuple[Principal | None, ASGIApp]:
        if self._token is None:
            if not self._is_local(headers):
                return None, _NOT_LOCAL
            return (
                (None, _NOT_OURS) if is_socket and _is_elsewhere(headers) else (LOCAL, _NOT_LOCAL)
            )
        scheme, _, given = headers.get("authorization", "").partition(" ")
        sent = given.strip().encode("latin-1")
        if scheme.lower() == "bearer" and hmac.compare_digest(sent, self._token):
            return TOKEN_HOLDER, _NO_TOKEN
        return None, _WRONG_TOKEN if given else _NO_TOKEN

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

    Browsers let any page open a WebSocket, without the preflight request that JSON needs.
    """
    origin = headers.get("origin")
    return origin is not None and origin.rpartition("://")[2].lower() != headers["host"].lower()


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
