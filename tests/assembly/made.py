"""A registry with more tools than a model is shown, and selectors over it."""

from typing import Any

from tests.registry.made import a_tool

from pegboard import Policy, ToolRegistry
from pegboard.assembly import ModelToolList, SelectionLimits, ToolSelector
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Tool
from pegboard.registry.toolset import Toolset

THINGS = (
    "invoice",
    "parcel",
    "ticket",
    "recipe",
    "flight",
    "hotel",
    "song",
    "photo",
    "poem",
    "tax",
)
VERBS = ("create", "delete")
NAMES = [f"{thing}__{verb}" for thing in THINGS for verb in VERBS]


def many_tools(**known: Any) -> ToolRegistry:
    """Twenty tools: to create and to delete each of ten things."""
    return ToolRegistry(
        [
            a_tool(name, f"{name.split('__')[1].title()} one {name.split('__')[0]}.")
            for name in NAMES
        ],
        **known,
    )


def a_selector(
    registry: ToolRegistry,
    *,
    principal: Principal = LOCAL,
    kept: ModelToolList | None = None,
    basis: str = "",
    goes_on: bool = False,
    reaches: Any = lambda _: True,
    **limits: Any,
) -> ToolSelector:
    """A selector over a registry."""
    return ToolSelector(
        Toolset(registry=registry, listed=(), reaches=reaches),
        principal=principal,
        limits=SelectionLimits(**limits),
        basis=basis,
        kept=kept,
        goes_on=goes_on,
    )


def deny(*names: str) -> Policy:
    """A policy that hides tools."""
    return Policy(deny=names)


def names_of(tools: Any) -> list[str]:
    """The names of tools as models are shown them, or as they are."""
    return [tool.spec.name if isinstance(tool, Tool) else tool.name for tool in tools]
