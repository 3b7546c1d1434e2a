"""`MetaTool`: how a model reaches tools that it is not shown; a route of a `Toolset`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct

from pegboard.core.model_messages import ModelTool, ToolCall
from pegboard.core.principal import Principal

if TYPE_CHECKING:
    from pegboard.registry.toolset import Toolset


class Reply(Struct, frozen=True):
    """The answer of a meta-tool that calls nothing."""

    text: str


class Delegation(Struct, frozen=True):
    """A task for another agent."""

    agent: str
    task: str


Routed = ToolCall | Reply | Delegation
"""Where the call of a meta-tool leads; a `ToolCall` is the call of the inner tool."""
Route = Callable[["Toolset", ToolCall, Principal], Routed]
"""Reads the call of a meta-tool. Raises `InvalidRequest` where its arguments do not fit."""


def _none(_shown: frozenset[str]) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class MetaTool:
    """A tool that leads to others, and is none of the registry.

    Attributes:
        render: Makes what a model is shown.
        route: Where a call of it leads.
        entries: The names of what it reaches; their withdrawal changes the list of a conversation.
        describe: Makes a text for each of them.
        is_always_listed: Whether it is listed wherever it has entries, as those that lead to
            something else than inner tools.
        reaches_beyond: Whether it reaches a tool that is not among the listed ones, by name.
    """

    name: str
    render: Callable[[], ModelTool]
    route: Route
    entries: tuple[str, ...] = ()
    describe: Callable[[], Mapping[str, str]] = dict[str, str]
    is_always_listed: bool = False
    reaches_beyond: Callable[[frozenset[str]], bool] = _none
