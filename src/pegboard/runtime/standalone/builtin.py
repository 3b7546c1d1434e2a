"""The built-in tools for use without a board: `from pegboard import builtin`.

`builtin.ALL_TOOLS` and one list for each category (`builtin.web`, `builtin.computation`, ...) are
ready to be registered, and can be called: `tool(**arguments)` returns the value of a call, also of
an async tool, or raises its error. Tools of the web share one guarded HTTP client, and tools for
files are jailed to the folder in which the process was started. Tools that need a key read it from
the `PEGBOARD_*` variables, as a board does.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegboard.core.ports.services import Services
from pegboard.registry import ToolRegistry
from pegboard.registry.callable_tool import CallableTool
from pegboard.registry.sync_bridge import LOOP_THREAD
from pegboard.runtime.board_file.models import NetworkEntry, SandboxEntry
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.providers import create_providers
from pegboard.runtime.wiring.services import create_http_client, create_sandbox
from pegboard.sources.builtin import bind_tools

if TYPE_CHECKING:
    ALL_TOOLS: list[CallableTool]
    computation: list[CallableTool]
    filesystem: list[CallableTool]
    general: list[CallableTool]
    media: list[CallableTool]
    web: list[CallableTool]


def discover_builtin_tools() -> tuple[CallableTool, ...]:
    """All built-in tools by name; the spec of an unavailable one has the reason."""
    return _bind_tools()


@cache
def _bind_tools() -> tuple[CallableTool, ...]:
    network = NetworkEntry()
    services = Services(
        http=create_http_client(network),
        workspace=Path.cwd(),
        providers=create_providers(Settings.from_environment(), network),
        sandbox=create_sandbox(SandboxEntry()),
    )
    registry = ToolRegistry(bind_tools(services))

    def call(name: str, arguments: Mapping[str, Any]) -> Any:
        return LOOP_THREAD.run(registry.call(name, arguments)).unwrap()

    return tuple(CallableTool(tool, call) for tool in registry)


def __getattr__(name: str) -> list[CallableTool]:
    if name == "ALL_TOOLS":
        return list(_bind_tools())
    group = [tool for tool in _bind_tools() if tool.spec.category == name]
    if not group:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return group


def __dir__() -> list[Any]:
    return ["ALL_TOOLS", "discover_builtin_tools", *{tool.spec.category for tool in _bind_tools()}]
