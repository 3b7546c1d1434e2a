"""Substitutes: tools that replace the tools of a node when none of them is available."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from msgspec import Struct

from pegboard.core.principal import Principal


class Substitute(Struct, frozen=True, kw_only=True):
    """An available tool with compatible input and output.

    Attributes:
        tool: Its wire name.
        instead_of: The tool of the node that it replaces, as the node names it.
        reasons: Why it is compatible, in sentences.
    """

    tool: str
    instead_of: str
    reasons: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """What a run and a check say of it."""
        return f"'{self.tool}' stands in for '{self.instead_of}'"


class SubstituteFinder(Protocol):
    """Finds a substitute for the tools of a node, or None. It never raises.

    Args:
        names: The tools of the node, none of which had an effect.
        principal: The caller.
        refused: Those tools whose call was denied. A tool that this caller may not call is never
            replaced; a tool stopped by a kill switch is replaced only where the board allows it.
    """

    def __call__(
        self, names: Sequence[str], principal: Principal, /, *, refused: Collection[str] = ()
    ) -> Substitute | None: ...


def for_caller(
    heal: SubstituteFinder | None, principal: Principal
) -> Callable[[tuple[str, ...]], Substitute | None] | None:
    """The finder with its caller filled in; None without a finder."""
    return None if heal is None else lambda names: heal(names, principal)
