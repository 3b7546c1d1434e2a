"""Collects the tools, resources and prompts of a module."""

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from pegboard.tools import BaseTool, FunctionTool, SchemaTool
from pegboard.tools.decorator import mark_of
from pegboard.tools.resources_and_prompts import FunctionPrompt, FunctionResource, offer_of


def offers_in(module: ModuleType) -> Iterator[FunctionResource | FunctionPrompt]:
    """The functions of a module with `@resource` or `@prompt`."""
    seen: set[int] = set()
    for item in list(vars(module).values()):
        made = offer_of(item)
        if made is not None and id(made) not in seen:
            seen.add(id(made))
            yield made


def tools_in(module: ModuleType, *, undecorated: bool) -> Iterator[Any]:
    """The tools of a module: decorated functions, tool objects and, if wanted, plain functions."""
    seen: set[int] = set()
    for name, item in list(vars(module).items()):
        if id(item) in seen or name.startswith("_"):
            continue
        if _is_tool(item) or (
            undecorated and _is_own_function(item, module) and offer_of(item) is None
        ):
            seen.add(id(item))
            yield item


def _is_tool(item: Any) -> bool:
    if isinstance(item, (BaseTool, FunctionTool, SchemaTool)):
        return True
    return callable(item) and not inspect.isclass(item) and mark_of(item) is not None


def _is_own_function(item: Any, module: ModuleType) -> bool:
    return inspect.isfunction(item) and item.__module__ == module.__name__
