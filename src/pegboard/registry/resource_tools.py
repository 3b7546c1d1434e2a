"""Resources and prompts in the shape of tools, so that they pass the steps of a call."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from pegboard.core.context import ToolContext
from pegboard.core.resources_and_prompts import (
    FilledPrompt,
    Prompt,
    PromptMessage,
    Resource,
    board_uri,
)
from pegboard.core.result import ResourcePart, ToolResult
from pegboard.core.tool import Effect, ToolSpec
from pegboard.core.wire_names import wire_name

_NO_SOURCE = "board"
_URI_ARGUMENT = {
    "type": "object",
    "properties": {"uri": {"type": "string"}},
    "required": ["uri"],
    "additionalProperties": False,
}


class ResourceTool:
    """A resource in the shape of a tool.

    Attributes:
        uri: Its board URI.
        spec: Its spec for policy, records and kill switches: category and handler `resource`,
            effect `read`.
    """

    def __init__(self, resource: Resource) -> None:
        known = resource.spec
        self.resource = resource
        self.uri = board_uri(known.source, known.uri)
        self.spec = ToolSpec(
            name=wire_name(known.source or _NO_SOURCE, known.uri),
            action=known.uri,
            title=known.title or known.name,
            description=known.description,
            input_schema=_URI_ARGUMENT,
            category="resource",
            handler="resource",
            effect=Effect.READ,
            source=known.source,
            scopes=known.scopes,
            tags=known.tags,
            max_result_bytes=0,
        )

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any], /) -> ToolResult:
        """Read the resource."""
        parts = await self.resource.read(arguments["uri"], ctx)
        return ToolResult(content=tuple(parts))

    def parts(self, result: ToolResult) -> Sequence[ResourcePart]:
        """The contents in a result, under board URIs."""
        source = self.resource.spec.source
        return [
            structs.replace(part, uri=board_uri(source, part.uri))
            for part in result.content
            if isinstance(part, ResourcePart)
        ]


class PromptTool:
    """A prompt in the shape of a tool.

    Attributes:
        spec: Its spec for policy, records and kill switches: category and handler `prompt`, effect
            `read`.
    """

    def __init__(self, prompt: Prompt) -> None:
        known = prompt.spec
        self.prompt = prompt
        self.spec = ToolSpec(
            name=known.name,
            action=known.action,
            title=known.title,
            description=known.description,
            input_schema={
                "type": "object",
                "properties": {item.name: {"type": "string"} for item in known.arguments},
                "required": [item.name for item in known.arguments if item.required],
                "additionalProperties": False,
            },
            category="prompt",
            handler="prompt",
            effect=Effect.READ,
            source=known.source,
            scopes=known.scopes,
            tags=known.tags,
            max_result_bytes=0,
        )

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any], /) -> ToolResult:
        """Fill the prompt; the structured result has the roles of its messages."""
        filled = await self.prompt.fill(arguments, ctx)
        return ToolResult(
            content=tuple(message.content for message in filled.messages),
            structured={
                "description": filled.description,
                "roles": [message.role for message in filled.messages],
            },
        )

    def to_prompt(self, result: ToolResult) -> FilledPrompt:
        """The filled prompt in the result of a call."""
        said = result.structured
        contents = () if isinstance(result.content, str) else result.content
        return FilledPrompt(
            description=said["description"],
            messages=tuple(
                PromptMessage(role=role, content=part)
                for role, part in zip(said["roles"], contents, strict=True)
            ),
        )
