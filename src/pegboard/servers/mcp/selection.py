"""Which tools, resources and prompts of a board are served, and under which names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from typing import Self

from pegboard.core.principal import Principal
from pegboard.core.resources_and_prompts import board_uri, split_board_uri
from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.tool import AGENT, ToolSpec
from pegboard.core.wire_names import GLOB_SIGNS, is_glob, is_wire_name, split_wire_name, wire_name
from pegboard.errors import InvalidRequest, shorten_name
from pegboard.runtime import Pegboard

_MAX_VALUES = 50
_MAX_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardSelection:
    """A filter over what a caller may see; it grants no access.

    Attributes:
        only: Globs over names, one of which must match; empty for all.
        sources: Names of sources; empty for all.
        categories: Categories of tools; resources are `resource`, prompts `prompt`; empty for all.
        exclude: Globs over names that are excluded.
        own: Name of a single source that is served under its own names of tools, prompts and
            resources. Empty for the board's names.
        listed: Globs over names of tools. If there are any, only tools that match one are listed,
            and the others are reached by `find_tools` and `call_tool`; an empty glob lists none.
    """

    only: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    own: str = ""
    listed: tuple[str, ...] = ()

    @classmethod
    def of_query(cls, given: Mapping[str, Sequence[str]], *, own: str = "") -> Self:
        """Read a selection from the query of an address.

        Raises:
            InvalidRequest: A parameter is unknown, or there are too many values.
        """
        known = {
            "only": "only",
            "source": "sources",
            "category": "categories",
            "exclude": "exclude",
            "list": "listed",
        }
        unknown = sorted(given.keys() - known.keys())
        if unknown:
            raise InvalidRequest(
                f"There is no parameter '{unknown[0][:40]}'; known are {', '.join(known)}"
            )
        if sum(map(len, given.values())) > _MAX_VALUES:
            raise InvalidRequest(f"The query has more than {_MAX_VALUES} values.")
        chosen = {known[name]: tuple(values) for name, values in given.items()}
        return cls(own=own, **chosen)

    def has(self, spec: ToolSpec) -> bool:
        """Whether a tool, or the spec of a resource or a prompt, is selected."""
        if spec.handler == AGENT or (self.own and spec.source != self.own):
            return False  # the clients of this door are models
        if self.sources and spec.source not in self.sources:
            return False
        if self.categories and spec.category not in self.categories:
            return False
        if self.only and not _matches(spec.name, self.only):
            return False
        return not _matches(spec.name, self.exclude)

    def lists(self, spec: ToolSpec) -> bool:
        """Whether a selected tool is listed, and not only found by `find_tools`."""
        return not self.listed or _matches(spec.name, self.listed)

    def client_name(self, spec: ToolSpec) -> str:
        """The name that clients use."""
        if not self.own:
            return spec.name
        own = spec.action or split_wire_name(spec.name)[1]
        return own if is_wire_name(own) else spec.name

    def board_name(self, shown: str) -> str:
        """The wire name of a client's name."""
        if not self.own or not shown:
            return shown
        source, _ = split_wire_name(shown)
        return shown if source == self.own else wire_name(self.own, shown)

    def client_uri(self, uri: str) -> str:
        """The URI that clients use."""
        if not self.own:
            return uri
        source, own = split_board_uri(uri)
        return own if source == self.own else uri

    def board_uri(self, shown: str) -> str:
        """The board's URI of a client's URI."""
        return board_uri(self.own, shown)


def check_selection(selection: BoardSelection, board: Pegboard, *, principal: Principal) -> None:
    """Refuse a selection that names an unknown source.

    Otherwise the selection would be silently empty, and a misspelt exclusion would expose what it
    was meant to hide. Sources that are pending or have failed are known.

    Raises:
        InvalidRequest: A source is unknown; the message suggests names.
    """
    named = [*selection.sources, *((selection.own,) if selection.own else ())]
    globs = (*selection.only, *selection.exclude, *selection.listed)
    begun = {split_wire_name(glob)[0] for glob in globs} - {""}
    if not named and not begun:
        return
    known = set(_list_sources(board, principal))
    unknown = sorted({*named, *begun} - known)
    # the board's own tools, and those defined in its file, have no source
    own = {split_wire_name(name)[0] for name in board.registry.names()} if unknown else set[str]()
    hides = board.registry.environment.resource_index.hides
    for name in unknown:
        if name in named or name not in own or hides(principal, name):
            raise InvalidRequest(unknown_source(name, board, principal=principal))


def check_globs(selection: BoardSelection, board: Pegboard) -> list[str]:
    """Refuse globs of `only` and `listed` that match nothing.

    A glob that a source may still provide a match for is not refused. This is for the operator:
    hidden names match too, and may be named.

    Returns:
        A warning for each glob that matches nothing yet, with the sources that may provide a
        match and why they have not.

    Raises:
        InvalidRequest: A glob matches nothing, and all sources that it could mean are listed.
    """
    globs = (*selection.only, *filter(None, selection.listed))  # an empty one lists no tools
    if not globs:
        return []
    names = list(_names(board))
    warnings: list[str] = []
    for glob in globs:
        if any(fnmatchcase(name, glob) for name in names):
            continue
        missing = [
            f"source '{state.name}' {state.describe()}"
            for state in board.sources
            if state.status != "ok" and _may_mean(glob, state.name)
        ]
        if not missing:
            raise InvalidRequest(f"Nothing on the board matches '{glob[:100]}'{_hint(glob, names)}")
        warnings.append(f"nothing on the board matches '{glob[:100]}' yet: {'; '.join(missing)}")
    return warnings


def unknown_source(name: str, board: Pegboard, *, principal: Principal) -> str:
    """The message for an unknown source, with suggestions or the known names."""
    known = _list_sources(board, principal)
    listed = sorted(known)
    left = len(listed) - _MAX_NAMED
    more = f" and {left} more" if left > 0 else ""
    there = f"it has {', '.join(listed[:_MAX_NAMED]) or 'none'}{more}."
    hint = did_you_mean(name, known, most=3, otherwise=there)
    return f"There is no source '{shorten_name(name)}' on the board; {hint}"


WHOLE_BOARD = BoardSelection()
"""The whole board."""


def _list_sources(board: Pegboard, principal: Principal) -> list[str]:
    """The names of the sources that a caller may know of."""
    states = (*board.sources, *board.list_connectors(principal=principal))
    return [state.name for state in states]


def _matches(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _names(board: Pegboard) -> Iterator[str]:
    offers = board.registry.offers
    offered = (item.spec.name for item in chain(offers.resources(), offers.prompts()))
    return chain(board.registry.names(), offered)


def _may_mean(glob: str, source: str) -> bool:
    """Whether tools of this source could match; a literal source in a glob means only that one."""
    named, _ = split_wire_name(glob)
    if named:
        return named == source
    before = glob.partition("__")[0]
    return is_glob(before) and fnmatchcase(f"{source}__", _source_glob(glob))


def _source_glob(glob: str) -> str:
    """The glob that the source of a matching name must fit."""
    source, separator, _ = glob.partition("__")
    return f"{source}{separator}" if separator else f"{glob.partition('*')[0]}*"


def _hint(glob: str, names: list[str]) -> str:
    hint = did_you_mean("".join(char for char in glob if char not in GLOB_SIGNS), names, most=3)
    return f"; {hint}" if hint else "."
