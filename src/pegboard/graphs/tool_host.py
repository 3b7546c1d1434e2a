"""The port through which graphs find and call tools."""

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
        """The call environment: policy, kill switches, listeners, clocks."""
        ...

    def find(self, name: str, /) -> Tool | None:
        """The tool of a wire name or an id; None when there is none."""
        ...

    def nearest(self, name: str, principal: Principal, /) -> tuple[str, ...]:
        """Up to three similar names of tools that this caller may see."""
        ...

    def call(
        self, name: str, arguments: Arguments, ctx: ToolContext[Any], /
    ) -> Awaitable[ToolResult]:
        """Call a tool; a failure is a result too."""
        ...


def find_tool(board: ToolHost, name: str) -> tuple[Tool | None, str]:
    """Find a tool by name, id, or name with a pin; and the pin that its version does not match.

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
