"""A tool that takes the place of a chain of which none is there, where the board lets it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, convert, to_builtins

from pegboard.core.graph import Node, NodeState
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun
from pegboard.errors import (
    AccessDenied,
    BreakerOpen,
    MCPConnectionError,
    SourceUnavailable,
    ToolNotFound,
    Unavailable,
)
from pegboard.graphs.engine.node_execution import NodeExecution

_OUT = frozenset(
    error.code
    for error in (BreakerOpen, MCPConnectionError, SourceUnavailable, ToolNotFound, Unavailable)
)
"""How a tool fails that is gone or away; one that says no is there.

So is one whose board could not store that it starts (`StoreUnavailable`), and one that was given
the address of a host that is away (`HostUnavailable`).
"""


class Substitute(Struct, frozen=True, kw_only=True):
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


class SubstituteFinder(Protocol):
    """What stands in for a chain of tools, for a caller; None when nothing does. It never raises.

    Args:
        names: The tools of the chain, of which none did anything.
        principal: Whose call it would be.
        refused: Those of them whose call was denied: nothing stands in for what this caller may
            not call, and for what a person has stopped only where the board says so.
    """

    def __call__(
        self, names: Sequence[str], principal: Principal, /, *, refused: Collection[str] = ()
    ) -> Substitute | None: ...


def for_caller(
    heal: SubstituteFinder | None, principal: Principal
) -> Callable[[tuple[str, ...]], Substitute | None] | None:
    """The same for one caller; None where nothing stands in for anything."""
    return None if heal is None else lambda names: heal(names, principal)


async def stand_in(doing: NodeExecution, tries: Sequence[NodeRun]) -> Substitute | None:
    """What takes the place of a chain that was tried in vain; the same in every play of a run."""
    if not all(_is_out(run) for run in tries):
        return None
    session, names = doing.session, doing.node.tools
    denied = [name for name, run in zip(names, tries, strict=False) if _is_denied(run)]

    def choose() -> Any:
        found = session.heal and session.heal(names, session.ctx.principal, refused=denied)
        return to_builtins(found) if found else {}

    chosen = await doing.note("healing", choose)  # also that there is none: edges go by it
    return convert(chosen, Substitute) if chosen else None


def input_for(node: Node, tool: str) -> Mapping[str, Any] | None:
    """What a node gives one of its tools; None for its own input."""
    fallbacks = (fallback.input for fallback in node.fallbacks if fallback.tool == tool)
    return None if tool == node.tool else next(fallbacks, None)


def _is_out(run: NodeRun) -> bool:
    error = run.error or {}
    is_out = error.get("code") in _OUT or _is_denied(run)
    return run.state is NodeState.FAILED and is_out and "outcome" not in error


def _is_denied(run: NodeRun) -> bool:
    return (run.error or {}).get("code") == AccessDenied.code
