"""The caller of a request, and the state of its session."""

from collections.abc import Awaitable, Callable, Mapping
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
from pegboard.servers.mcp.selection import WHOLE_BOARD, BoardSelection

SELECTION = "pegboard.mcp.selection"
"""Key of the selection in the state of an ASGI scope."""

_SESSION = "pegboard.session"
_LEVEL = "pegboard.level"
_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
_FIRST_LEVEL: LogLevel = "info"

CURRENT: ContextVar["Caller | None"] = ContextVar("pegboard_mcp_caller", default=None)
"""The caller of an HTTP request, for callbacks of the SDK that are given no request."""


NameLocal = Callable[[], Awaitable[Principal]]
"""Names the caller over stdio."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A caller, the selection that is served to it, and what its client can be asked."""

    principal: Principal
    selection: BoardSelection
    abilities: ClientAbilities = field(default_factory=lambda: ClientAbilities(None))


class Callers:
    """Finds the caller and the session of a request.

    Args:
        watching: Notifies sessions of changes.
        selection: What is served if the address selects nothing, as over stdio.
        max_followed: Resources that one session may subscribe to.
        name_local: Names the caller over stdio.
    """

    def __init__(
        self,
        watching: ChangeNotifications,
        *,
        selection: BoardSelection = WHOLE_BOARD,
        max_followed: int = MAX_FOLLOWED,
        name_local: NameLocal,
    ) -> None:
        self._name_local = name_local
        self._local = LOCAL
        self._most_followed = max_followed
        self._watching = watching
        self._selection = selection

    async def identify(self, request: Request) -> Caller:
        """The caller of a request: authenticated over HTTP, the local user over stdio.

        Raises:
            AccessDenied: The board has accounts, and the process was started without a key.
        """
        if request.request is None:
            self._local = await self._name_local()
        return self.caller(request)

    def caller(self, request: Request) -> Caller:
        """The caller of a request that was identified."""
        abilities = ClientAbilities(request.session.client_capabilities)
        if request.request is None:
            return Caller(principal=self._local, selection=self._selection, abilities=abilities)
        state: Mapping[str, Any] = request.request.scope["state"]
        return Caller(principal=state["principal"], selection=state[SELECTION], abilities=abilities)

    def session(self, request: Request) -> LegacySession:
        """The session of a request; the first call subscribes it to changes."""
        connection = connection_of(request)
        known = connection.state.get(_SESSION)
        if isinstance(known, LegacySession):
            return known
        session = connection.state[_SESSION] = LegacySession(connection, self._most_followed)
        caller = self.caller(request)
        leave = self._watching.subscribe(session, caller.principal, caller.selection)
        connection.exit_stack.callback(leave)
        return session

    def set_level(self, request: Request, level: LogLevel) -> None:
        """Set the lowest level of log lines that are sent to this session."""
        connection_of(request).state[_LEVEL] = level

    def levels(self, request: Request) -> frozenset[LogLevel]:
        """The levels of log lines that may be sent to this request."""
        if is_modern(request):
            return allowed_log_levels(request.protocol_version, request.meta)
        level: LogLevel = connection_of(request).state.get(_LEVEL, _FIRST_LEVEL)
        return frozenset(_LEVELS[_LEVELS.index(level) :])


def is_modern(request: Request) -> bool:
    """Whether the request is stateless, as from 2026-07-28 on, and belongs to no session."""
    return request.protocol_version in MODERN_PROTOCOL_VERSIONS


def connection_of(request: Request) -> Connection:
    """The SDK's connection of a request, for state that lives as long as it does."""
    return request.session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # the SDK gives handlers no public access to their connection
