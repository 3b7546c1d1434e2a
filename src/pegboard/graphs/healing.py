"""A tool that takes the place of a chain of which none is there, where the board lets it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, convert, to_builtins

from pegboard.core.graph import Node, NodeState
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun
from pegboard.errors import (
    BreakerOpen,
    MCPConnectionError,
    SourceUnavailable,
    ToolNotFound,
    Unavailable,
)
from pegboard.graphs.doing import Doing

_OUT = frozenset(
    error.code
    for error in (BreakerOpen, MCPConnectionError, SourceUnavailable, ToolNotFound, Unavailable)
)
"""How a tool fails that is gone or away; one that says no, or is refused, is there.

So is one whose board could not store that it starts (`StoreUnavailable`), and one that was given
the address of a host that is away (`HostUnavailable`).
"""


class StandIn(Struct, frozen=True, kw_only=True):
    """A tool that takes what another takes, gives what it gives, and is there.

    Attributes:
        tool: Its wire name.
        instead_of: The tool of the chain whose place it takes, as the chain names it.
        reasons: Why it may, in sentences.
    """

    tool: str
    instead_of: str
    reasons: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What is said of it where it was called."""
        return f"'{self.tool}' stands in for '{self.instead_of}'"


Heal = Callable[[Sequence[str], Principal], StandIn | None]
"""What stands in for a chain of tools, for a caller; None when nothing does. It never raises."""


def for_caller(
    heal: Heal | None, principal: Principal
) -> Callable[[tuple[str, ...]], StandIn | None] | None:
    """The same for one caller; None where nothing stands in for anything."""
    return None if heal is None else lambda names: heal(names, principal)


async def stand_in(doing: Doing, tries: Sequence[NodeRun]) -> StandIn | None:
    """What takes the place of a chain that was tried in vain; the same in every play of a run."""
    if not all(_is_out(run) for run in tries):
        return None
    session, names = doing.session, doing.node.tools

    def choose() -> Any:
        found = session.heal and session.heal(names, session.ctx.principal)
        return to_builtins(found) if found else {}

    chosen = await doing.note("healing", choose)  # also that there is none: edges go by it
    return convert(chosen, StandIn) if chosen else None


def input_for(node: Node, tool: str) -> Mapping[str, Any] | None:
    """What a node gives one of its tools; None for its own input."""
    fallbacks = (fallback.input for fallback in node.fallbacks if fallback.tool == tool)
    return None if tool == node.tool else next(fallbacks, None)


def _is_out(run: NodeRun) -> bool:
    error = run.error or {}
    return run.state is NodeState.FAILED and error.get("code") in _OUT and "outcome" not in error
