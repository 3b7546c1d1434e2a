"""A tool under another name."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pegboard.core.context import Arguments, ToolContext
from pegboard.core.result import ToolResult
from pegboard.core.tool import Tool
from pegboard.errors import ToolArgumentError, ToolOutputError

_OFFERED = frozenset({"needs_context", "is_async", "parameter_texts", "function", "validate_input"})


class RenamedTool:
    """A view of a tool under another name; rules for its first name still apply."""

    def __init__(self, inner: Tool, name: str) -> None:
        self.inner = inner
        spec = inner.spec
        self.spec = spec.replace(name=name, registered_name=spec.registered_name or spec.name)
        self.run: Callable[[Mapping[str, Any], ToolContext[Any]], Awaitable[Any]] = inner.run

    def __getattr__(self, name: str) -> Any:
        # what a tool offers beyond the protocol: its own readers of arguments and outputs
        if name == "arguments":
            return self._reader(self.inner.arguments)  # type: ignore[attr-defined]  # absent: no attribute here either
        if name == "finish":
            return self._finisher(self.inner.finish)  # type: ignore[attr-defined]  # absent: no attribute here either
        if name in _OFFERED:
            return getattr(self.inner, name)
        raise AttributeError(name)

    def _reader(
        self, read: Callable[[Arguments], Mapping[str, Any]]
    ) -> Callable[[Arguments], Mapping[str, Any]]:
        name = self.spec.name

        def arguments(raw: Arguments) -> Mapping[str, Any]:
            try:
                return read(raw)
            except ToolArgumentError as error:
                raise ToolArgumentError(name, error.problems) from error.__cause__

        return arguments

    def _finisher(self, finish: Callable[[Any], ToolResult]) -> Callable[[Any], ToolResult]:
        name, old = self.spec.name, self.inner.spec.name

        def checked(value: Any) -> ToolResult:
            try:
                return finish(value)
            except ToolOutputError as error:
                message = error.message.replace(f"'{old}'", f"'{name}'")
                raise ToolOutputError(message) from error.__cause__

        return checked
