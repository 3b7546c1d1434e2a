"""The SDK's low-level server for a board; imports the SDK."""

from collections.abc import Mapping
from typing import Any, get_args

import mcp_types as types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions

from pegboard import __version__
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.callers import CURRENT, Callers
from pegboard.servers.mcp.change_notifications import DEBOUNCE, MAX_FOLLOWED, ChangeNotifications
from pegboard.servers.mcp.handlers import Handlers
from pegboard.servers.mcp.listings import PAGE, Catalogue
from pegboard.servers.mcp.multi_round import MultiRoundRequests
from pegboard.servers.mcp.progress import Request
from pegboard.servers.mcp.protocol_errors import contain_cancellation, name_param_faults
from pegboard.servers.mcp.selection import WHOLE_BOARD, BoardSelection
from pegboard.servers.mcp.suspended_calls import SuspendedCalls

INSTRUCTIONS = (
    "The tools of a Pegboard board. A result that is too large ends with a handle "
    "(pegboard://results/...): read it as a resource, or give it to another tool as an argument. "
    "An error says what to change, when to try again, or under which id the operator finds it."
)


_HINTS: dict[CacheableMethod, CacheHint] = dict.fromkeys(
    get_args(CacheableMethod), CacheHint(ttl_ms=0, scope="private")
)
"""Lists are per caller, and may change at any time."""


class BoardServer:
    """A board as an MCP server. Created in a running loop, closed before its board.

    Args:
        board: An open board.
        selection: What is served if the address selects nothing, as over stdio.
        page: Items on a page of a list.
        debounce: Seconds between a change and its notification.
        max_followed: Resources that one session may subscribe to.
        suspended: Holds calls that wait for answers; closed with the server.
        key: The key that the process of a client over stdio was started with; empty for none.
    """

    def __init__(
        self,
        board: Pegboard,
        *,
        selection: BoardSelection = WHOLE_BOARD,
        page: int = PAGE,
        debounce: float = DEBOUNCE,
        max_followed: int = MAX_FOLLOWED,
        suspended: SuspendedCalls | None = None,
        key: str = "",
    ) -> None:
        self._catalogue = Catalogue(
            board.registry,
            page=page,
            by_alias=board.settings.board is None,
            name_length=board.settings.mcp_name_length,
        )
        self._watching = ChangeNotifications(board.registry, self._catalogue, debounce=debounce)
        self._callers = Callers(
            self._watching,
            selection=selection,
            max_followed=max_followed,
            name_local=lambda: board.identity.callers.name_local(key),
        )
        self._suspended = suspended or SuspendedCalls()
        self._board = board
        rounds = MultiRoundRequests(self._callers, self._suspended)
        handlers = Handlers(board, callers=self._callers, catalogue=self._catalogue, rounds=rounds)
        self.sdk = self._sdk(handlers)

    def end_streams(self) -> None:
        """End all `subscriptions/listen` streams; clients may listen again on another server."""
        self._watching.end_streams()

    async def close(self) -> None:
        """Cancel suspended calls and end all streams."""
        await self._suspended.close()
        await self._watching.close()
        self._catalogue.close()

    def _sdk(self, handlers: Handlers) -> Server[Any]:
        server = _Server(
            "pegboard",
            version=__version__,
            title="Pegboard",
            instructions=INSTRUCTIONS,
            cache_hints=_HINTS,
            get_tool_input_schema=self._input_schema,
            on_subscriptions_listen=self._listen,
        )
        if not self._board.settings.traces:
            server.middleware.clear()  # the SDK makes a span for each message
        server.middleware += [contain_cancellation, name_param_faults]
        for method, params, handle in handlers.table():
            server.add_request_handler(method, params, handle)
        server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._on_initialized
        )
        return server

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The input schema for the check of `Mcp-Param-*` headers; None for hidden tools."""
        caller = CURRENT.get()
        if caller is None:
            return None
        found = self._catalogue.listing("tools", caller.principal, caller.selection).find(name)
        return None if found is None else self._catalogue.render_tool(found).body["inputSchema"]

    async def _on_initialized(self, request: Request, _params: types.NotificationParams) -> None:
        self._callers.session(request)

    async def _listen(
        self, request: Request, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        caller = await self._callers.identify(request)
        async with self._watching.stream(caller.principal, caller.selection) as listen:
            return await listen(request, params)


_LISTS_CHANGE = NotificationOptions(
    prompts_changed=True, resources_changed=True, tools_changed=True
)


class _Server(Server[Any]):
    """Declares that its lists may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        return super().create_initialization_options(
            notification_options or _LISTS_CHANGE,
            experimental_capabilities,
            extensions,
        )
