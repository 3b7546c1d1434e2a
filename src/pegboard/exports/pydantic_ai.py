"""A registry as a Pydantic AI toolset; imported only with Pydantic AI installed."""

from collections.abc import Callable, Iterable
from typing import Any, cast, get_args

from pydantic_ai import DeferredToolRequests, ModelRetry, RunContext
from pydantic_ai.exceptions import ApprovalRequired as DeferredApproval
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import BinaryContent, ToolReturn
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from pegboard.core.context import ToolContext
from pegboard.core.principal import Principal
from pegboard.core.provider_schema import provider_schema
from pegboard.core.result import AudioPart, ImagePart, Part, ResourcePart, TextPart, ToolResult
from pegboard.core.tool import Tool
from pegboard.errors import (
    ApprovalRequired,
    InvalidRequest,
    PegboardError,
    ToolArgumentError,
)
from pegboard.exports.result_details import result_details
from pegboard.features.approvals import Approvals
from pegboard.registry import ToolRegistry

Context = ToolContext[Any] | Callable[[RunContext[Any]], ToolContext[Any]] | None

_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))
"""Accepts any object: the registry validates the arguments, with better messages."""


class RegistryToolset(AbstractToolset[Any]):
    """The tools of a registry that a caller may see and call."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        ctx: Context,
        id: str | None,  # noqa: A002 - what Pydantic AI calls it
        max_retries: int,
        defer_approvals: bool | None,
        approver: Principal,
    ) -> None:
        self._registry = registry
        self._ctx = ctx
        self._id = id
        self._max_retries = max_retries
        self._defer_approvals = defer_approvals
        self._approver = approver

    @property
    def id(self) -> str | None:
        """The id of the toolset; None when it has none."""
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The tools that are visible now."""
        principal = self._context(ctx).principal
        return {
            tool.spec.name: self._of(tool) for tool in self._registry.visible_to_models(principal)
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Call a tool through the registry.

        Raises:
            ModelRetry: The arguments are invalid, and the model can correct them.
            ApprovalRequired: A person must approve the call, and the agent defers such calls.
            ToolFailed: The call failed otherwise; the run goes on.
        """
        del tool
        context = self._context(ctx)
        result = await self._registry.call(name, tool_args, context)
        error = result.error
        if isinstance(error, ApprovalRequired) and error.approval_id:
            if ctx.tool_call_approved:
                try:
                    await Approvals(self._registry).decide(
                        error.approval_id, "approve", principal=self._approver
                    )
                except PegboardError as refused:
                    raise ToolFailed(str(refused)) from refused
                result = await self._registry.call(name, tool_args, context)
            elif self._defers(ctx):
                raise DeferredApproval({"approval_id": error.approval_id, "reason": str(error)})
        return _answer(result)

    def _defers(self, ctx: RunContext[Any]) -> bool:
        if self._defer_approvals is not None:
            return self._defer_approvals
        return ctx.agent is not None and _takes_deferred_calls(ctx.agent.output_type)

    def _context(self, ctx: RunContext[Any]) -> ToolContext[Any]:
        return (self._ctx(ctx) if callable(self._ctx) else self._ctx) or ToolContext()

    def _of(self, tool: Tool) -> ToolsetTool[Any]:
        spec = tool.spec
        definition = ToolDefinition(
            name=spec.name,
            description=spec.model_description,
            parameters_json_schema=dict(provider_schema(spec.input_schema)),
            sequential=spec.exclusive,
            metadata={"effect": spec.effect.value, "category": spec.category, "id": spec.id},
        )
        return ToolsetTool(
            toolset=self,
            tool_def=definition,
            max_retries=self._max_retries,
            args_validator=_ANY_OBJECT,
        )


def _answer(result: ToolResult) -> Any:
    if result.is_error:
        if isinstance(result.error, (ToolArgumentError, InvalidRequest)):
            raise ModelRetry(result.text)
        raise ToolFailed(result.text)
    value: Any = result.unwrap()
    if not isinstance(result.content, str):  # pictures and files are for the model to see
        value = [_content(part) for part in result.content]
    about = {"call_id": result.meta.call_id, "structured": result.structured}
    return ToolReturn(return_value=value, metadata=about | result_details(result))


def _takes_deferred_calls(output: Any) -> bool:
    """Whether an output type of Pydantic AI (a type, a union or several) has deferred calls."""
    if output is DeferredToolRequests:
        return True
    parts = cast("Iterable[Any]", output) if isinstance(output, (list, tuple)) else get_args(output)
    return any(map(_takes_deferred_calls, parts))


def _content(part: Part) -> str | BinaryContent:
    match part:
        case TextPart():
            return part.text
        case ImagePart() | AudioPart():
            return BinaryContent(data=part.data, media_type=part.media_type)
        case ResourcePart():
            if part.data is not None:
                media_type = part.media_type or "application/octet-stream"
                return BinaryContent(data=part.data, media_type=media_type)
            return part.uri if part.text is None else part.text
