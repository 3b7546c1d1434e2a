"""The built-in tools for use without a board: `from pegboard import builtin`.

`builtin.ALL_TOOLS` and one list for each category (`builtin.web`, `builtin.computation`, ...) are
ready to be registered. Tools of the web share one guarded HTTP client, and tools for files are
jailed to the folder in which the process was started.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.runtime.board_file.models import NetworkEntry, SandboxEntry
from pegboard.runtime.wiring.services import create_http_client, create_sandbox
from pegboard.sources.builtin import bind_tools

if TYPE_CHECKING:
    ALL_TOOLS: list[Tool]
    computation: list[Tool]
    filesystem: list[Tool]
    general: list[Tool]
    web: list[Tool]


def discover_builtin_tools() -> tuple[Tool, ...]:
    """All built-in tools by name; the spec of an unavailable one has the reason."""
    return _bind_tools()


@cache
def _bind_tools() -> tuple[Tool, ...]:
    services = Services(
        http=create_http_client(NetworkEntry()),
        workspace=Path.cwd(),
        sandbox=create_sandbox(SandboxEntry()),
    )
    return tuple(bind_tools(services))


def __getattr__(name: str) -> list[Tool]:
    if name == "ALL_TOOLS":
        return list(_bind_tools())
    group = [tool for tool in _bind_tools() if tool.spec.category == name]
    if not group:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return group


def __dir__() -> list[Any]:
    return ["ALL_TOOLS", "discover_builtin_tools", *{tool.spec.category for tool in _bind_tools()}]
