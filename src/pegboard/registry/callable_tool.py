"""A tool that a program calls as a function."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from pegboard.core.provider_formats import openai_tool
from pegboard.core.tool import Tool, ToolSpec


class CallableTool:
    """A tool that is also a function: calling it calls the tool and unwraps the result.

    ```python
    [add] = [item for item in client.as_tools() if item.spec.action == "add"]
    add(a=2, b=3)
    ```

    Args:
        inner: The tool.
        call: Calls the tool of a name, and returns its value or an awaitable of it.
    """

    def __init__(self, inner: Tool, call: Callable[[str, Mapping[str, Any]], Any]) -> None:
        self.inner = inner
        self.run = inner.run
        self._call = call

    def __call__(self, /, **arguments: Any) -> Any:
        """Call the tool and return its value, or an awaitable of it from an async client.

        Raises:
            PegboardError: The error of the result.
        """
        return self._call(self.spec.name, arguments)

    @property
    def spec(self) -> ToolSpec:
        """What it is."""
        return self.inner.spec

    @property
    def __name__(self) -> str:
        return self.spec.name

    @cached_property
    def __tool_spec__(self) -> dict[str, Any]:
        return openai_tool(self.spec)

    def __getattr__(self, name: str) -> Any:
        # what a tool offers beyond the protocol: its own readers of arguments and outputs
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __repr__(self) -> str:
        return repr(self.inner)
