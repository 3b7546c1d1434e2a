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


class CallerTools:
    """A tool host as one caller knows it: without the tools of sources that belong to others.

    Args:
        board: The host.
        principal: The caller.
    """

    __slots__ = ("_board", "_principal")

    def __init__(self, board: ToolHost, principal: Principal) -> None:
        self._board = board
        self._principal = principal

    @property
    def environment(self) -> "CallEnvironment":
        """That of the host."""
        return self._board.environment

    def find(self, name: str, /) -> Tool | None:
        """The tool of a wire name or an id; None when the caller may not know of it."""
        tool = self._board.find(name)
        hides = self._board.environment.resource_index.hides
        return None if tool is None or hides(self._principal, tool.spec.source) else tool

    def nearest(self, name: str, principal: Principal, /) -> tuple[str, ...]:
        """Up to three similar names of tools that this caller may see."""
        return self._board.nearest(name, principal)

    def call(
        self, name: str, arguments: Arguments, ctx: ToolContext[Any], /
    ) -> Awaitable[ToolResult]:
        """Call a tool; a failure is a result too."""
        return self._board.call(name, arguments, ctx)


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
