"""What graphs need of whoever has the tools."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol

from pegboard.core.context import Arguments, ToolContext
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.core.tool import Tool

if TYPE_CHECKING:
    from pegboard.execution import CallEnvironment


class ToolHost(Protocol):
    """Finds and calls tools; every `ToolRegistry` does."""

    @property
    def environment(self) -> "CallEnvironment":
        """What calls work with: policy, switches, listeners, clocks."""
        ...

    def find(self, name: str, /) -> Tool | None:
        """The tool of a wire name or an id; None when there is none."""
        ...

    def nearest(self, name: str, principal: Principal, /) -> tuple[str, ...]:
        """At most three names that were perhaps meant, of tools that this caller may see."""
        ...

    def call(
        self, name: str, arguments: Arguments, ctx: ToolContext[Any], /
    ) -> Awaitable[ToolResult]:
        """Run one tool; a failure is a result too."""
        ...


def find_tool(board: ToolHost, name: str) -> tuple[Tool | None, str]:
    """The tool of a name, an id, or a name with a pin; and the pin that it does not keep.

    `search@1.2` is the tool `search` in a version 1.2, or 1.2 with anything behind.
    """
    tool = board.find(name)
    base, at, pin = name.rpartition("@")
    if tool is not None or not at:
        return tool, ""
    tool = board.find(base)
    if tool is None:
        return None, ""
    version = tool.spec.version
    return tool, "" if version == pin or version.startswith(f"{pin}.") else pin
