"""One MCP server: its sessions, and one method for each request."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import mcp_types as types
from mcp.client import Client

from pegboard.core.context import ToolContext
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import PegboardError, SourceUnavailable
from pegboard.sources.mcp.client import translate_error
from pegboard.sources.mcp.pagination import ListResult, Page, read_pages, read_pages_if_known
from pegboard.sources.mcp.ping import ensure_alive, ping
from pegboard.sources.mcp.request_context import RequestContext
from pegboard.sources.mcp.session.accounts import SessionAccounts, find_missing_account
from pegboard.sources.mcp.session.notifications import ServerNotifications
from pegboard.sources.mcp.session.pool import OPERATOR, SessionPool
from pegboard.sources.mcp.session.session import Session, SharedTools
from pegboard.sources.mcp.transport.http_failures import SessionLost
from pegboard.sources.mcp.transport.transports import Link

T = TypeVar("T")
Context = ToolContext[Any]
Send = Callable[[Client, RequestContext], Awaitable[T]]


class McpServer:
    """Sends requests to one server, each caller on a session of its own.

    The connections belong to the event loop that used the server first; requests from other loops
    run there.
    """

    def __init__(
        self, link: Link, *, changed: Callable[[], None], updated: Callable[[str], None]
    ) -> None:
        self.link = link
        self._notifications = ServerNotifications(changed, updated)
        self._known = SharedTools()
        self._home: asyncio.AbstractEventLoop | None = None
        self._accounts = SessionAccounts(link)
        self._sessions = SessionPool(
            link.title,
            self._make_session,
            most=link.config.max_sessions,
            idle=link.config.idle_timeout,
        )

    # requests of the board

    async def tools(self) -> ListResult[types.Tool]:
        """List all tools."""

        async def send(client: Client, context: RequestContext) -> ListResult[types.Tool]:
            del context
            if client.server_capabilities.tools is None:
                return ListResult()

            async def page(cursor: str | None) -> Page[types.Tool]:
                found = await client.list_tools(cursor=cursor)
                return found.tools, found

            return await read_pages("tools", page)

        found = await self._list(send)
        self._known = SharedTools(tools=_without_outputs(found.items))
        return found

    async def resources(self) -> ListResult[types.Resource | types.ResourceTemplate]:
        """List all resources and resource templates."""

        async def send(client: Client, context: RequestContext) -> ListResult[Any]:
            del context
            if client.server_capabilities.resources is None:
                return ListResult()

            async def page(cursor: str | None) -> Page[Any]:
                found = await client.list_resources(cursor=cursor)
                return found.resources, found

            async def template_page(cursor: str | None) -> Page[Any]:
                found = await client.list_resource_templates(cursor=cursor)
                return found.resource_templates, found

            one = await read_pages_if_known("resources", page)
            return one.and_those_of(await read_pages_if_known("resource templates", template_page))

        found = await self._list(send)
        uris = [item.uri for item in found.items if isinstance(item, types.Resource)]
        self._notifications.follow_resources(uris)
        return found

    async def prompts(self) -> ListResult[types.Prompt]:
        """List all prompts."""

        async def send(client: Client, context: RequestContext) -> ListResult[types.Prompt]:
            del context
            if client.server_capabilities.prompts is None:
                return ListResult()

            async def page(cursor: str | None) -> Page[types.Prompt]:
                found = await client.list_prompts(cursor=cursor)
                return found.prompts, found

            return await read_pages("prompts", page)

        return await self._list(send)

    async def ping(self) -> None:
        """Return when the server answers."""

        async def send(client: Client, context: RequestContext) -> None:
            del context
            await ping(client)

        await self._ask_as_operator(send, self.link.ping_seconds)

    def is_asleep(self) -> bool:
        """Whether the board's session was closed because it was not used."""
        return self._home is not None and not self._sessions.has(OPERATOR)

    # requests of callers

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any], ctx: Context
    ) -> types.CallToolResult:
        """Call a tool by the server's own name."""

        async def send(client: Client, context: RequestContext) -> types.CallToolResult:
            progress = context.progress if ctx.on_progress is not None else None
            return await client.call_tool(name, dict(arguments), progress_callback=progress)

        return await self._ask(ctx, send)

    async def read_resource(self, uri: str, ctx: Context) -> types.ReadResourceResult:
        """Read a resource by the server's own URI."""

        async def send(client: Client, context: RequestContext) -> types.ReadResourceResult:
            del context
            return await client.read_resource(uri)

        return await self._ask(ctx, send)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str], ctx: Context
    ) -> types.GetPromptResult:
        """Fill in a prompt by the server's own name."""

        async def send(client: Client, context: RequestContext) -> types.GetPromptResult:
            del context
            return await client.get_prompt(name, dict(arguments) or None)

        return await self._ask(ctx, send)

    async def complete(
        self,
        of: types.PromptReference | types.ResourceTemplateReference,
        argument: str,
        value: str,
        given: Mapping[str, str],
        ctx: Context,
    ) -> types.Completion:
        """Suggest values for an argument; none if the server has no completions."""

        async def send(client: Client, context: RequestContext) -> types.Completion:
            del context
            if client.server_capabilities.completions is None:
                return types.Completion(values=[])
            found = await client.complete(
                of, {"name": argument, "value": value}, dict(given) or None
            )
            return found.completion

        return await self._ask(ctx, send)

    async def close(self) -> None:
        """End all sessions; safe to call twice."""
        home = self._home
        if home is not None and home.is_running():
            await self._on_home(self._sessions.close())

    # how requests are sent

    async def _list(self, send: Send[T]) -> T:
        return await self._ask_as_operator(send, self.link.list_seconds)

    async def _ask_as_operator(self, send: Send[T], seconds: float) -> T:
        """Send a request of the board itself, with a time limit."""

        async def within(client: Client, context: RequestContext) -> T:
            async with asyncio.timeout(seconds):
                return await send(client, context)

        async def asked() -> T:
            if self.link.takes_caller:
                await self._choose_account()
            context = RequestContext(None, timeout=seconds)
            return await self._request(OPERATOR, context, within, now=True)

        return await self._on_home(asked())

    async def _choose_account(self) -> None:
        """Choose the account with which the board lists; a session of another one ends."""
        try:
            is_other = await self._accounts.change_listing()
        except SourceUnavailable:
            self._sessions.drop_key(OPERATOR)
            raise
        if is_other:
            self._sessions.drop_key(OPERATOR)

    async def _ask(self, ctx: Context, send: Send[T]) -> T:
        async def asked() -> T:
            key = session_key(ctx.principal)
            if self.link.takes_caller:
                key, ended = await self._accounts.find_key(ctx)
                for old in ended:
                    self._sessions.drop_key(old)
            return await self._request(key, RequestContext(ctx), send)

        return await self._on_home(asked())

    async def _request(
        self, key: str, context: RequestContext, send: Send[T], *, now: bool = False
    ) -> T:
        try:
            return await self._once(key, context, send, now=now)
        except SessionLost:
            context.fault = None  # the server did nothing of it: a new session may ask
            return await self._once(key, context, send, now=now)
        except PegboardError as error:
            missing = find_missing_account(error)
            if missing is None or missing is error:
                raise
            raise missing from error

    async def _once(self, key: str, context: RequestContext, send: Send[T], *, now: bool) -> T:
        session = await self._sessions.acquire(key, now=now)
        try:
            await self._ensure_alive(session)
            return await session.run(context, lambda client: send(client, context))
        except PegboardError:
            raise
        except Exception as error:
            if context.fault is None:
                await session.wait_for_end()
            found = translate_error(self.link, context.fault, session.why_lost, error)
            if isinstance(found, SessionLost) or session.is_lost:
                self._sessions.drop(session)
            raise found from error
        finally:
            self._sessions.release(session)

    async def _ensure_alive(self, session: Session) -> None:
        """Replace a silent session; over HTTP each request has its own stream."""
        config = self.link.config
        if not (config.command or config.is_sse):
            return
        if not await ensure_alive(session, seconds=config.ping_timeout):
            self._sessions.drop(session)
            raise SessionLost(f"{self.link.title} did not answer any more.", nothing_done=True)

    async def _on_home(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop that the connections belong to."""
        here = asyncio.get_running_loop()
        home = self._home = self._home or here
        if home is here:
            return await work
        if not home.is_running():
            work.close()
            raise SourceUnavailable(
                f"{self.link.title} was opened on an event loop that has ended.", permanent=True
            )
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, home))

    def _make_session(self, key: str, on_end: Callable[[Session], None]) -> Session:
        from dataclasses import replace

        def end(session: Session) -> None:
            self._accounts.forget(key)
            on_end(session)

        return Session(
            replace(self.link, key=key, use=self._accounts.finder(key)),
            key=key,
            following=self._notifications if key == OPERATOR else None,
            known=lambda: self._known,
            on_end=end,
        )


def session_key(principal: Principal) -> str:
    """The session of a caller; on a board of one person, the board's own."""
    if principal == LOCAL:
        return OPERATOR
    return f"{principal.tenant}/{principal.kind}/{principal.id}"


def _without_outputs(tools: Sequence[types.Tool]) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[item.model_copy(update={"output_schema": None}) for item in tools]
    )
