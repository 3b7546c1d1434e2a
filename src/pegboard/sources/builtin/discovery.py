"""Finds the built-in tools: every decorated function of every module in `tools/`."""

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
from pegboard.tools import as_tool

Availability = Callable[[Services], str]
Probe = Callable[[Services], Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinTool:
    """One built-in tool.

    Attributes:
        function: The decorated function.
        spec: Under its bare name.
        availability: Why it cannot be used with some services; empty when it can.
        probe: The same, for what has to be tried out first; asked when a board opens, of tools
            that are available by all else.
    """

    function: Callable[..., Any]
    spec: ToolSpec
    availability: Availability
    probe: Probe


@cache
def discover_builtin_tools() -> tuple[BuiltinTool, ...]:
    """All of them, by name.

    A module may define `availability(services) -> str` for its tools, and an async `probe` alike.
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


def _tools_of(module: ModuleType) -> list[Callable[..., Any]]:
    """The decorated functions that the module defines itself."""
    return [
        function
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and hasattr(function, "__tool_spec__")
    ]


def _always(_: Services) -> str:
    return ""


async def _not_probed(_: Services) -> str:
    return ""
