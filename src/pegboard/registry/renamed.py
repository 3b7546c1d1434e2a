"""A tool under another name, or with other words: the spec changes, what runs stays."""

from collections.abc import Awaitable, Mapping
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.tool import Tool


class ChangedTool:
    """A view of a tool with some fields of its spec changed."""

    def __init__(self, inner: Tool, **changes: Any) -> None:
        self.inner = inner
        self.spec = inner.spec.changed(**changes)

    def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any], /) -> Awaitable[Any]:
        """Run the tool behind."""
        return self.inner.run(arguments, ctx)

    def __getattr__(self, name: str) -> Any:
        # what a tool offers beyond the protocol: its own readers of arguments and outputs
        if name in {"arguments", "finish", "needs_context", "is_async", "parameter_names"}:
            return getattr(self.inner, name)
        raise AttributeError(name)
