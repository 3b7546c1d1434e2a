"""Whether the globs of a part fit anything, so that nobody serves an empty board by a slip."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import chain

from pegboard.core.suggestions import did_you_mean
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import InvalidRequest
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.selection import BoardSelection

_WILD = frozenset("*?[")


def check_globs(part: BoardSelection, board: Pegboard) -> list[str]:
    """Refuse globs of `only` that nothing fits, unless what they mean may still come.

    Whoever asks is the operator: hidden names count, and are named.

    Returns:
        Of each glob that fits nothing yet, which sources may bring what it means, and why they
        have not.

    Raises:
        InvalidRequest: One fits nothing, and every source that it may mean has been listed.
    """
    if not part.only:
        return []
    names = list(_names(board))
    told: list[str] = []
    for glob in part.only:
        if any(fnmatchcase(name, glob) for name in names):
            continue
        missing = [
            f"source '{state.name}' is {state.status}: {state.reason}"
            for state in board.sources
            if state.status != "ok" and _may_mean(glob, state.name)
        ]
        if not missing:
            raise InvalidRequest(f"Nothing on the board fits '{glob[:100]}'{_hint(glob, names)}")
        told.append(f"nothing on the board fits '{glob[:100]}' yet: {'; '.join(missing)}")
    return told


def _names(board: Pegboard) -> Iterator[str]:
    offers = board.registry.offers
    offered = (item.spec.name for item in chain(offers.resources(), offers.prompts()))
    return chain(board.registry.names(), offered)


def _may_mean(glob: str, source: str) -> bool:
    """Whether tools of this source may fit; one whose source is written out means that alone."""
    named, _ = split_wire_name(glob)
    if named:
        return named == source
    before = glob.partition("__")[0]
    return any(char in _WILD for char in before) and fnmatchcase(f"{source}__", _begun(glob))


def _begun(glob: str) -> str:
    """What a name must look like as far as its source."""
    source, separator, _ = glob.partition("__")
    return f"{source}{separator}" if separator else f"{glob.partition('*')[0]}*"


def _hint(glob: str, names: list[str]) -> str:
    hint = did_you_mean("".join(char for char in glob if char not in _WILD), names, most=3)
    return f"; {hint}" if hint else "."
