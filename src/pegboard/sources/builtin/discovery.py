"""Finds the built-in tools: every decorated function and `BaseTool` of each module in `tools/`."""

import importlib
import inspect
import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from pegboard.core.ports.services import Services
from pegboard.core.tool import ToolSpec
from pegboard.sources.builtin import tools
from pegboard.tools import BaseTool, as_tool
from pegboard.tools.base_tool import make_instance

Availability = Callable[[Services], str]
Probe = Callable[[Services], Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinTool:
    """One built-in tool.

    Attributes:
        function: The decorated function, or the instance of a subclass of `BaseTool`.
        spec: Its spec, without the name of a source.
        availability: Returns why it is unavailable with these services; empty if it is available.
        probe: Like `availability`, for what must be tried first; called when a board opens.
    """

    function: Callable[..., Any] | BaseTool
    spec: ToolSpec
    availability: Availability
    probe: Probe


@cache
def discover_builtin_tools() -> tuple[BuiltinTool, ...]:
    """Return all built-in tools, by name.

    A module may define `availability(services) -> str` and an async `probe` for its tools.
    """
    found = [
        BuiltinTool(
            function=function,
            spec=as_tool(function).spec,
            availability=getattr(module, "availability", _always),
            probe=getattr(module, "probe", _not_probed),
        )
        for module in _modules()
        for function in _tools_of(module)
    ]
    return tuple(sorted(found, key=lambda item: item.spec.name))


def _modules() -> list[ModuleType]:
    return [
        importlib.import_module(f"{tools.__name__}.{item.name}")
        for item in pkgutil.iter_modules(tools.__path__)
    ]


def _tools_of(module: ModuleType) -> list[Callable[..., Any] | BaseTool]:
    """Return the decorated functions and the tool classes that a module defines itself."""
    own = [item for item in vars(module).values() if _module_of(item) == module.__name__]
    return [
        *(item for item in own if inspect.isfunction(item) and hasattr(item, "__tool_spec__")),
        *(make_instance(item) for item in own if _is_tool_class(item)),
    ]


def _module_of(item: Any) -> str:
    return getattr(item, "__module__", "") if callable(item) else ""


def _is_tool_class(item: Any) -> bool:
    is_class = inspect.isclass(item) and issubclass(item, BaseTool)
    return is_class and not inspect.isabstract(item)


def _always(_: Services) -> str:
    return ""


async def _not_probed(_: Services) -> str:
    return ""
