"""Tools that every board has: arithmetic, time, text, JSON, templates, files and the web.

Those that need a service of others (search, mail, notifications, images) are unavailable until the
settings name it.

`builtin.ALL_TOOLS` and one list for each category (`builtin.web`, `builtin.filesystem`, ...) hold
the decorated functions; they are imported when first read.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pegboard.core.ports.source import SourceKind
from pegboard.sources.builtin.config import BuiltinConfig
from pegboard.sources.builtin.discovery import discover_builtin_tools
from pegboard.sources.builtin.source import bind_tools, open_builtin

if TYPE_CHECKING:
    from collections.abc import Callable

    from pegboard.tools import BaseTool

    Functions = list[Callable[..., Any] | BaseTool]
    ALL_TOOLS: Functions
    computation: Functions
    filesystem: Functions
    general: Functions
    media: Functions
    web: Functions

__all__ = [
    "ALL_TOOLS",
    "KIND",
    "BuiltinConfig",
    "bind_tools",
    "computation",
    "discover_builtin_tools",
    "filesystem",
    "general",
    "media",
    "web",
]


def _plain_names() -> frozenset[str]:
    return frozenset(item.spec.name for item in discover_builtin_tools())


KIND = SourceKind(
    kind="builtin",
    title="Built-in tools",
    config=BuiltinConfig,
    open=open_builtin,
    plain_names=_plain_names,
)


def __getattr__(name: str) -> Any:
    # importing a module of this folder looks up its name first, possibly while a tool's module is
    # being imported: discovery at that moment would miss the tools that are not defined yet
    if name.startswith("_") or find_spec(f"{__name__}.{name}") is not None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = discover_builtin_tools()
    if name == "ALL_TOOLS":
        return [item.function for item in found]
    group = [item.function for item in found if item.spec.category == name]
    if not group:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return group
