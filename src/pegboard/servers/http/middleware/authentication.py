"""Who may come in: the token, or a local caller that really is local."""

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
"""Probes need no token; they say less to whoever has none."""

_ANY_ADDRESS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - refused as a name, not listened on


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationSettings:
    """Whom the door lets in.

    Attributes:
        token: What a caller must bring; None lets in whoever is local.
        hosts: Names under which a server without a token answers, beside loopback.
    """

    token: str | None = field(repr=False)
    hosts: frozenset[str] = frozenset()


def authentication_settings(settings: Settings) -> AuthenticationSettings:
    """What the settings say of it.

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
    """ASGI middleware: names the caller, or answers 401 or 403.

    Args:
        app: What is behind it.
        settings: Whom it lets in.
        tickets: Which a WebSocket may bring instead of the token; None gives none.
    """

    def __init__(
        self, app: ASGIApp, settings: AuthenticationSettings, *, tickets: Tickets | None = None
    ) -> None:
        self._app = app
        self._tickets = tickets or Tickets()
        self._token = None if settings.token is None else settings.token.encode()
        self._hosts = settings.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
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
        """Whether the request is meant for this machine.

        A page on the web can make a browser resolve the page's own name to this machine; the names
        in `Host` and `Origin` give that away.
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
    """Whether a page of another origin asks, be it of another port of this machine.

    A browser lets any page open a WebSocket and asks the server for no leave first, as it does
    before it posts JSON.
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
    "The token is not the one that this server knows.",
    headers={"WWW-Authenticate": 'Bearer realm="pegboard", error="invalid_token"'},
)
_WRONG_TICKET = problem_response(
    401,
    "The ticket is none that this server gave to this page and that is still good: get one with "
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
    "A server without PEGBOARD_TOKEN takes no WebSocket from a page of another origin.",
    code="origin_not_allowed",
)
