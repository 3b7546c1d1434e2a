"""A tool of the registry as a LangChain tool; imported only with LangChain installed."""

import base64
from collections.abc import Callable
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.tools import BaseTool, ToolException
from pydantic import PrivateAttr

from pegboard.core.context import ToolContext
from pegboard.core.result import AudioPart, ImagePart, Part, ResourcePart, TextPart, ToolResult
from pegboard.core.tool import ToolSpec
from pegboard.exports.result_details import result_details
from pegboard.registry import ToolRegistry
from pegboard.registry.sync_bridge import LOOP_THREAD

Context = ToolContext[Any] | Callable[[RunnableConfig], ToolContext[Any]] | None


class RegistryTool(BaseTool):
    """A LangChain tool that calls a registry, which validates the arguments."""

    _registry: ToolRegistry = PrivateAttr()
    _ctx: Context = PrivateAttr(default=None)

    @classmethod
    def of(
        cls, spec: ToolSpec, registry: ToolRegistry, *, ctx: Context, raise_errors: bool
    ) -> Self:
        """The tool of this spec."""
        made = cls(
            name=spec.name,
            description=spec.model_description,
            args_schema={"properties": {}, **spec.input_schema},
            tags=list(spec.tags) or None,
            metadata={"effect": spec.effect.value, "category": spec.category, "id": spec.id},
            handle_tool_error=not raise_errors,
            response_format="content_and_artifact",
        )
        made._registry, made._ctx = registry, ctx
        return made

    async def _arun(self, /, **arguments: Any) -> tuple[Any, Any]:
        return _answer(await self._registry.call(self.name, arguments, self._context()))

    def _run(self, /, **arguments: Any) -> tuple[Any, Any]:
        return _answer(LOOP_THREAD.run(self._registry.call(self.name, arguments, self._context())))

    def _context(self) -> ToolContext[Any] | None:
        # a parameter for the config would hide an argument of the same name
        return self._ctx(ensure_config()) if callable(self._ctx) else self._ctx


def _answer(result: ToolResult) -> tuple[Any, Any]:
    """Content and artifact, as LangChain calls them.

    Raises:
        ToolException: The call failed; its text is safe to show.
    """
    if result.is_error:
        raise ToolException(result.text)
    artifact = result.structured
    if details := result_details(result):
        artifact = {"structured": result.structured, **details}
    if isinstance(result.content, str):
        return result.content, artifact
    return [_block(part) for part in result.content], artifact


def _block(part: Part) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            return _with_data("image", part.data, part.media_type)
        case AudioPart():
            # LangChain accepts no audio in the answer of a tool
            return _with_data("file", part.data, part.media_type)
        case ResourcePart():
            if part.data is not None:
                return _with_data("file", part.data, part.media_type)
            return {"type": "text", "text": part.uri if part.text is None else part.text}


def _with_data(kind: str, data: bytes, media_type: str) -> dict[str, Any]:
    return {
        "type": kind,
        "base64": base64.b64encode(data).decode("ascii"),
        "mime_type": media_type or "application/octet-stream",
    }
