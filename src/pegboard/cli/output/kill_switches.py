"""Warns when a kill switch matches nothing."""

from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pegboard.cli.options import with_board
from pegboard.cli.output.tables import note
from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.wire_names import GLOB_SIGNS
from pegboard.errors import PegboardError

if TYPE_CHECKING:
    from pegboard.core.ports.kill_switch_store import SwitchKind
    from pegboard.runtime import Pegboard, Settings
    from pegboard.runtime.sources.state import SourceState

_MAX_NAMES = 20


def warn_if_unmatched(chosen: "Settings", kind: "SwitchKind", name: str) -> None:
    """Print a note if a kill switch matches no tool or source.

    No remote source is opened for this, since it may be the one that was turned off.
    """

    async def look(board: "Pegboard") -> str:
        return _source(board, name) if kind == "source" else await _tool(board, name)

    if kind == "writes":
        return
    with suppress(PegboardError):  # it is off; what is wrong with the board is told elsewhere
        if told := with_board(chosen, look, whole=False):
            note(told)


def _source(board: "Pegboard", name: str) -> str:
    names = sorted(state.name for state in board.sources)
    if name in names:
        return ""
    more = ", ..." if len(names) > _MAX_NAMES else ""
    hint = did_you_mean(name, names, otherwise=f"there are {', '.join(names[:_MAX_NAMES])}{more}")
    return f"there is no source '{name}' now; {hint}"


async def _tool(board: "Pegboard", name: str) -> str:
    fixed = name[: min((name.find(char) for char in GLOB_SIGNS if char in name), default=len(name))]
    possible = [state for state in board.sources if _may_have(state, fixed)]
    if any(state.opener is None or state.opener.kind.remote for state in possible):
        return ""
    for state in possible:
        state.wanted.set()
        await state.listed.wait()
    specs = [tool.spec for tool in board.registry]
    names = {
        known for spec in specs for known in (spec.name, spec.registered_name, spec.alias) if known
    }
    if any(fnmatchcase(known, name) for known in names) or any(spec.id == name for spec in specs):
        return ""
    if any(state.name == name for state in board.sources):
        return f"there is no tool '{name}' now; a source is: --source {name}"
    hint = did_you_mean(name, names, most=3, otherwise="'pegboard tools' lists them")
    return f"there is no tool '{name}' now; {hint}"


def _may_have(state: "SourceState", fixed: str) -> bool:
    """Whether a name with this prefix may belong to a source."""
    beginning = f"{state.name}__"
    return beginning.startswith(fixed) or fixed.startswith(beginning)
