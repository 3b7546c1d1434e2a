"""A server's resources and prompts as resources and prompts of the board."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import mcp_types as types

from pegboard.core.context import ToolContext
from pegboard.core.resources_and_prompts import (
    Completion,
    FilledPrompt,
    PromptArgument,
    PromptMessage,
    PromptSpec,
    ResourceSpec,
)
from pegboard.core.result import ResourcePart
from pegboard.core.wire_names import wire_name
from pegboard.sources.mcp.content_blocks import (
    MAX_DESCRIPTION,
    shorten,
    to_part,
    to_resource_part,
)
from pegboard.sources.mcp.server import McpServer

_TAGS = ("mcp",)


class ServerResource:
    """A resource or a resource template of a server."""

    def __init__(
        self, source: str, item: types.Resource | types.ResourceTemplate, upstream: McpServer
    ) -> None:
        self._source = source
        self._upstream = upstream
        annotations = item.annotations or types.Annotations()
        one = isinstance(item, types.Resource)
        self.spec = ResourceSpec(
            uri=item.uri if one else item.uri_template,
            name=item.name,
            title=item.title or "",
            description=shorten(item.description or "", MAX_DESCRIPTION),
            media_type=item.mime_type or "",
            size=item.size if one else None,
            audience=tuple(annotations.audience or ()),
            priority=annotations.priority,
            source=source,
            tags=_TAGS,
        )

    async def read(self, uri: str, ctx: ToolContext[Any], /) -> Sequence[ResourcePart]:
        """Read the contents from the server."""
        found = await self._upstream.read_resource(uri, ctx)
        return [to_resource_part(self._source, item, item.uri) for item in found.contents]

    async def complete(
        self, argument: str, value: str, given: Mapping[str, str], ctx: ToolContext[Any], /
    ) -> Completion:
        """Suggest values for a variable of the template."""
        of = types.ResourceTemplateReference(uri=self.spec.uri)
        return _completion(await self._upstream.complete(of, argument, value, given, ctx))


class ServerPrompt:
    """A prompt of a server."""

    def __init__(self, source: str, item: types.Prompt, upstream: McpServer) -> None:
        self._source = source
        self._action = item.name
        self._upstream = upstream
        self.spec = PromptSpec(
            name=wire_name(source, item.name),
            action=item.name,
            title=item.title or "",
            description=shorten(item.description or "", MAX_DESCRIPTION),
            arguments=tuple(
                PromptArgument(
                    name=argument.name,
                    title=argument.title or "",
                    description=argument.description or "",
                    required=bool(argument.required),
                )
                for argument in item.arguments or ()
            ),
            source=source,
            tags=_TAGS,
        )

    async def fill(self, arguments: Mapping[str, str], ctx: ToolContext[Any], /) -> FilledPrompt:
        """Fill in the arguments; the server does it."""
        found = await self._upstream.get_prompt(self._action, arguments, ctx)
        return FilledPrompt(
            description=found.description or "",
            messages=tuple(
                PromptMessage(role=item.role, content=to_part(self._source, item.content))
                for item in found.messages
            ),
        )

    async def complete(
        self, argument: str, value: str, given: Mapping[str, str], ctx: ToolContext[Any], /
    ) -> Completion:
        """Suggest values for an argument."""
        of = types.PromptReference(name=self._action)
        return _completion(await self._upstream.complete(of, argument, value, given, ctx))


def resources_of(
    source: str, items: Iterable[types.Resource | types.ResourceTemplate], upstream: McpServer
) -> list[ServerResource]:
    """One resource for each URI."""
    made = (ServerResource(source, item, upstream) for item in items)
    return list({item.spec.uri: item for item in made}.values())


def prompts_of(
    source: str, items: Iterable[types.Prompt], upstream: McpServer
) -> list[ServerPrompt]:
    """One prompt for each name; a prompt without a name is left out."""
    made = (ServerPrompt(source, item, upstream) for item in items if item.name)
    return list({item.spec.name: item for item in made}.values())


def _completion(found: types.Completion) -> Completion:
    return Completion(values=tuple(found.values), total=found.total, has_more=bool(found.has_more))
