"""Who a request comes from, and what its session has said so far."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, get_args

from mcp.server.connection import Connection, allowed_log_levels
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from pegboard.core.elicitation import LogLevel
from pegboard.core.principal import LOCAL, Principal
from pegboard.servers.mcp.change_notifications import (
    MAX_FOLLOWED,
    ChangeNotifications,
    LegacySession,
)
from pegboard.servers.mcp.elicitation import ClientAbilities
from pegboard.servers.mcp.progress import Request
from pegboard.servers.mcp.selection import WHOLE, BoardSelection

PART = "pegboard.mcp.part"
"""Where the endpoint leaves the part in the state of an ASGI scope."""

_SESSION = "pegboard.session"
_LEVEL = "pegboard.level"
_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
_FIRST_LEVEL: LogLevel = "info"

CURRENT: ContextVar["Caller | None"] = ContextVar("pegboard_mcp_caller", default=None)
"""The caller of an HTTP request, for what the SDK asks before it makes a request of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, for which part, and what can be asked of them."""

    principal: Principal
    part: BoardSelection
    abilities: ClientAbilities = field(default_factory=lambda: ClientAbilities(None))


class Callers:
    """Tells callers apart.

    Args:
        watching: Whom sessions are told by.
        part: What is served where no address says it.
        max_followed: Resources that one session may follow.
    """

    def __init__(
        self,
        watching: ChangeNotifications,
        *,
        part: BoardSelection = WHOLE,
        max_followed: int = MAX_FOLLOWED,
    ) -> None:
        self._most_followed = max_followed
        self._watching = watching
        self._part = part

    def caller(self, request: Request) -> Caller:
        """Who sent this request: named by the gate over HTTP, the local user over stdio."""
        abilities = ClientAbilities(request.session.client_capabilities)
        if request.request is None:
            return Caller(principal=LOCAL, part=self._part, abilities=abilities)
        state: Mapping[str, Any] = request.request.scope["state"]
        return Caller(principal=state["principal"], part=state[PART], abilities=abilities)

    def session(self, request: Request) -> LegacySession:
        """The session of a request; it begins to be told of changes when it is first asked for."""
        connection = connection_of(request)
        known = connection.state.get(_SESSION)
        if isinstance(known, LegacySession):
            return known
        session = connection.state[_SESSION] = LegacySession(connection, self._most_followed)
        caller = self.caller(request)
        leave = self._watching.subscribe(session, caller.principal, caller.part)
        connection.exit_stack.callback(leave)
        return session

    def set_level(self, request: Request, level: LogLevel) -> None:
        """From which level on this session wants log lines."""
        connection_of(request).state[_LEVEL] = level

    def levels(self, request: Request) -> frozenset[LogLevel]:
        """The levels that this request may be told."""
        if is_modern(request):
            return allowed_log_levels(request.protocol_version, request.meta)
        level: LogLevel = connection_of(request).state.get(_LEVEL, _FIRST_LEVEL)
        return frozenset(_LEVELS[_LEVELS.index(level) :])


def is_modern(request: Request) -> bool:
    """Whether the request stands alone, as from 2026-07-28 on, and belongs to no session."""
    return request.protocol_version in MODERN_PROTOCOL_VERSIONS


def connection_of(request: Request) -> Connection:
    """What lives as long as the connection of a request."""
    return request.session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # the SDK hands handlers no other way to what lives as long as their connection
