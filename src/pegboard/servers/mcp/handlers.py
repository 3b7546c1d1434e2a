"""Handlers of MCP requests; each delegates to the registry."""

from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from pegboard.assembly import FIND_TOOLS
from pegboard.core.context import ToolContext
from pegboard.core.resources_and_prompts import FilledPrompt
from pegboard.core.result import RESULT_URI, ToolResult
from pegboard.core.tool import Tool
from pegboard.errors import (
    AccessDenied,
    ElicitationUnavailable,
    HandleNotFound,
    InvalidRequest,
    PegboardError,
    ToolNotFound,
)
from pegboard.execution.wait_for_source import wait_for_source
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.callers import Caller, Callers, is_modern
from pegboard.servers.mcp.content_blocks import (
    block_of,
    call_result,
    read_stored_result,
    resource_contents,
)
from pegboard.servers.mcp.listings import Catalogue, ListKind
from pegboard.servers.mcp.meta_tools import (
    answer_find,
    answer_text,
    is_meta_tool,
    unwrap_call_tool,
)
from pegboard.servers.mcp.multi_round import MultiRoundRequests
from pegboard.servers.mcp.progress import Request
from pegboard.servers.mcp.protocol_errors import (
    internal_error,
    no_prompt,
    no_resource,
    protocol_error,
    unknown_tool,
)
from pegboard.servers.mcp.to_mcp import NOTHING

Handler = Callable[[Any, Request, Caller, Any], Awaitable[BaseModel | dict[str, Any]]]
_MAX_COMPLETIONS = 100


class Handlers:
    """Handles requests; every call goes through the registry, which authorizes and records it."""

    def __init__(
        self, board: Pegboard, *, callers: Callers, catalogue: Catalogue, rounds: MultiRoundRequests
    ) -> None:
        self._board = board
        self._callers = callers
        self._catalogue = catalogue
        self._rounds = rounds

    def table(self) -> list[tuple[str, type[BaseModel], Callable[[Request, Any], Awaitable[Any]]]]:
        """Methods, the models of their params, and their handlers."""
        paged = types.PaginatedRequestParams
        lists: dict[str, ListKind] = {
            "tools/list": "tools",
            "prompts/list": "prompts",
            "resources/list": "resources",
            "resources/templates/list": "templates",
        }
        return [
            *((method, paged, self._guard(_listing(kind))) for method, kind in lists.items()),
            ("tools/call", types.CallToolRequestParams, self._guard(Handlers.call_tool)),
            ("prompts/get", types.GetPromptRequestParams, self._guard(Handlers.get_prompt)),
            ("resources/read", types.ReadResourceRequestParams, self._guard(Handlers.read)),
            ("completion/complete", types.CompleteRequestParams, self._guard(Handlers.complete)),
            ("resources/subscribe", types.SubscribeRequestParams, self._guard(Handlers.subscribe)),
            (
                "resources/unsubscribe",
                types.UnsubscribeRequestParams,
                self._guard(Handlers.unsubscribe),
            ),
            ("logging/setLevel", types.SetLevelRequestParams, self._guard(Handlers.set_level)),
        ]

    def list(self, kind: ListKind, caller: Caller, cursor: str | None) -> dict[str, Any]:
        """One page of what the caller can see."""
        return self._catalogue.page(kind, caller.principal, caller.selection, cursor)

    async def call_tool(
        self, request: Request, caller: Caller, params: types.CallToolRequestParams
    ) -> BaseModel | dict[str, Any]:
        """Run a tool; an error of the tool is a result, for the model to read."""
        if is_meta_tool(caller.selection, params.name):
            return await self._call_meta_tool(request, caller, params)
        return await self._call_tool(request, caller, params)

    async def _call_meta_tool(
        self, request: Request, caller: Caller, params: types.CallToolRequestParams
    ) -> BaseModel | dict[str, Any]:
        """Answer what a model asks; its mistakes are results, which it can read."""
        registry, selection = self._board.registry, caller.selection
        if params.name == FIND_TOOLS:
            given = params.arguments or {}
            return await answer_find(registry, selection, caller.principal, given)
        try:
            return await self._call_tool(request, caller, unwrap_call_tool(params))
        except InvalidRequest as error:
            return answer_text(str(error), is_error=True)
        except MCPError as error:
            if error.error.code != types.INVALID_PARAMS:
                raise
            return answer_text(error.error.message, is_error=True)

    async def _call_tool(
        self, request: Request, caller: Caller, params: types.CallToolRequestParams
    ) -> BaseModel | dict[str, Any]:
        name = caller.selection.board_name(params.name)
        await wait_for_source(
            self._board.registry.environment, name
        )  # only then is its source known
        tool = self._board.registry.find_for(name, caller.principal)
        if tool is None:
            tool = self._catalogue.find_shortened(caller.principal, caller.selection, params.name)
            name = name if tool is None else tool.spec.name
        if tool is not None and not caller.selection.has(tool.spec):
            raise unknown_tool(params.name)

        async def call(ctx: ToolContext[Any]) -> ToolResult:
            return await self._board.call(name, params.arguments or {}, ctx)

        outcome = await self._rounds.run(
            call, request, caller, params, name=tool.spec.name if tool is not None else name
        )
        if isinstance(outcome, types.InputRequiredResult):
            return outcome
        result: ToolResult = outcome
        self._refuse(result, request, caller, params.name, tool)
        # without a tool its source is unavailable
        shown = NOTHING if tool is None else self._catalogue.render_tool(tool)
        version = request.protocol_version
        return call_result(result, shown, caller.selection, protocol_version=version)

    async def get_prompt(
        self, request: Request, caller: Caller, params: types.GetPromptRequestParams
    ) -> BaseModel | dict[str, Any]:
        """Render a prompt."""
        found = self._catalogue.prompt(caller.principal, caller.selection, params.name)
        if found is None:
            raise no_prompt(params.name)
        name = found.spec.name

        async def fill(ctx: ToolContext[Any]) -> FilledPrompt:
            return await self._board.registry.offers.fill(name, params.arguments, ctx)

        filled = await self._rounds.run(fill, request, caller, params, name=name)
        if isinstance(filled, types.InputRequiredResult):
            return filled
        messages = [
            {"role": item.role, "content": block_of(item.content, caller.selection)}
            for item in filled.messages
        ]
        answer: dict[str, Any] = {"resultType": "complete", "messages": messages}
        return answer | ({"description": filled.description} if filled.description else {})

    async def read(
        self, request: Request, caller: Caller, params: types.ReadResourceRequestParams
    ) -> BaseModel | dict[str, Any]:
        """Read a resource, or a stored result of this caller."""
        uri = str(params.uri)
        if uri.startswith(RESULT_URI):
            try:
                contents = await read_stored_result(self._board, uri, caller.principal)
            except (HandleNotFound, AccessDenied) as error:
                raise no_resource(uri, request.protocol_version) from error
            return {"resultType": "complete", "contents": [contents]}
        found = self._catalogue.resource(
            caller.principal, caller.selection, caller.selection.board_uri(uri)
        )
        if found is None:
            raise no_resource(uri, request.protocol_version)

        async def read(ctx: ToolContext[Any]) -> Any:
            return await self._board.registry.offers.read(caller.selection.board_uri(uri), ctx)

        parts = await self._rounds.run(read, request, caller, params, name=found.spec.name)
        if isinstance(parts, types.InputRequiredResult):
            return parts
        return {
            "resultType": "complete",
            "contents": [resource_contents(item, caller.selection) for item in parts],
        }

    async def complete(
        self, request: Request, caller: Caller, params: types.CompleteRequestParams
    ) -> dict[str, Any]:
        """Complete an argument of a prompt or a variable of a resource template."""
        reference = params.ref
        selection = caller.selection
        if isinstance(reference, types.PromptReference):
            prompt = self._catalogue.prompt(caller.principal, selection, reference.name)
            if prompt is None:
                raise no_prompt(reference.name)
            of = prompt.spec.name
        else:
            uri = str(reference.uri)
            resource = self._catalogue.resource(
                caller.principal, selection, selection.board_uri(uri)
            )
            if resource is None:
                raise no_resource(uri, request.protocol_version)
            of = resource.uri
        given = params.context.arguments if params.context is not None else None
        found = await self._board.registry.offers.complete(
            of,
            params.argument.name,
            params.argument.value,
            given=given,
            ctx=ToolContext(principal=caller.principal),
        )
        values = list(found.values[:_MAX_COMPLETIONS])
        completion: dict[str, Any] = {
            "values": values,
            "hasMore": found.has_more or len(found.values) > len(values),
        }
        if found.total is not None:
            completion["total"] = found.total
        return {"resultType": "complete", "completion": completion}

    async def subscribe(
        self, request: Request, caller: Caller, params: types.SubscribeRequestParams
    ) -> dict[str, Any]:
        """Notify this session when a resource changes."""
        uri = caller.selection.board_uri(str(params.uri))
        if self._catalogue.resource(caller.principal, caller.selection, uri) is None:
            raise no_resource(str(params.uri), request.protocol_version)
        self._callers.session(request).follow(uri)
        return {}

    async def unsubscribe(
        self, request: Request, caller: Caller, params: types.UnsubscribeRequestParams
    ) -> dict[str, Any]:
        """Stop notifying this session of a resource."""
        uri = caller.selection.board_uri(str(params.uri))
        self._callers.session(request).followed.discard(uri)
        return {}

    async def set_level(
        self, request: Request, _caller: Caller, params: types.SetLevelRequestParams
    ) -> dict[str, Any]:
        """Set the lowest level of log lines that this session receives."""
        self._callers.set_level(request, params.level)
        return {}

    def _refuse(
        self, result: ToolResult, request: Request, caller: Caller, name: str, tool: Tool | None
    ) -> None:
        """Raise the errors that are protocol errors and not results.

        Raises:
            MCPError: The tool does not exist for this caller, or the client lacks a capability.
        """
        error = result.error
        if isinstance(error, ToolNotFound):  # also where it became hidden in the meantime
            raise unknown_tool(name, self._nearest(error.nearest, caller) if tool is None else ())
        if isinstance(error, ElicitationUnavailable) and is_modern(request):
            missed = caller.abilities.missed
            if missed:
                raise MCPError(
                    types.MISSING_REQUIRED_CLIENT_CAPABILITY,
                    str(error),
                    {"requiredCapabilities": missed},
                )

    def _nearest(self, names: tuple[str, ...], caller: Caller) -> tuple[str, ...]:
        """Suggestions for a misspelt name, as this client knows them."""
        tools = [tool for tool in map(self._board.registry.find, names) if tool is not None]
        return tuple(
            self._catalogue.client_name(tool, caller.selection)
            for tool in tools
            if caller.selection.has(tool.spec)
        )

    def _guard(self, handle: Handler) -> Callable[[Request, Any], Awaitable[Any]]:
        """Wrap a handler: add the caller, and turn every error into a protocol error."""

        async def guarded(request: Request, params: Any) -> Any:
            try:
                return await handle(self, request, await self._callers.identify(request), params)
            except MCPError:
                raise
            except PegboardError as error:
                raise protocol_error(error) from error
            except Exception as error:  # the last resort: logged, answered with its id
                raise internal_error(error, during=request.method) from error

        return guarded


def _listing(kind: ListKind) -> Handler:
    async def handle(
        handlers: Handlers, _request: Request, caller: Caller, params: Any
    ) -> dict[str, Any]:
        return handlers.list(kind, caller, params.cursor if params is not None else None)

    return handle
