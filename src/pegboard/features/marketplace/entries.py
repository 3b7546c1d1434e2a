"""Marketplaces and their entries, independent of the catalogue format."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

MarketKind = Literal["mcp_registry", "openapi_directory", "pegboard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """An external catalogue that is configured in the board file.

    Attributes:
        place: The file or address of its document, or the address of another Pegboard.
        token: Token for another Pegboard; empty for none.
        token_as: The token as the board file writes it, for example `${HQ_TOKEN}`.
        base_dir: Base of a relative file path.
    """

    kind: MarketKind
    name: str
    place: str
    token: str = field(default="", repr=False)
    token_as: str = field(default="", repr=False)
    base_dir: Path = field(default_factory=Path)

    @property
    def is_remote(self) -> bool:
        """Whether it is read over the network."""
        return self.place.lower().startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A word by which an entry is found.

    Attributes:
        told_as: Kind of the word in its catalogue: `capability`, `category`, `tag`, `keyword`.
    """

    name: str
    told_as: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredValue:
    """A value that is required to add an entry.

    Attributes:
        name: Name given by the entry.
        place: `variable`, `argument`, `header` or `address`.
        variable: The environment variable of the board that supplies it.
    """

    name: str
    place: str
    variable: str
    description: str = ""
    is_secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallOption:
    """One way to add an entry to the board.

    Attributes:
        name: `remote-1`, `package-1`, ...
        source_kind: Kind of the source.
        config: Config of the source as in a board file; missing values as `${VARIABLE}`.
        runs_here: Whether it starts a program on this machine.
        address: Address of its server or document; empty for a program.
        command: The complete command line of a program.
        needs: Required values.
        only: The only tool to add; empty for all tools of the server.
        warnings: Warnings for the operator.
        problem: Why this option cannot be used; empty if it can.
    """

    name: str
    source_kind: str
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    runs_here: bool = False
    address: str = ""
    command: tuple[str, ...] = ()
    needs: tuple[RequiredValue, ...] = ()
    only: str = ""
    warnings: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketEntry:
    """An entry of a catalogue.

    Attributes:
        id: Id within the catalogue.
        kind: `MCP server`, `REST API` or `tool`.
        publisher: Publisher according to the catalogue.
        effect: Effect of a single tool; empty if the catalogue does not say.
        short: Default prefix of its tool names.
        ways: Install options, best first.
    """

    market: str
    id: str
    kind: str
    title: str = ""
    description: str = ""
    version: str = ""
    publisher: str = ""
    labels: tuple[Label, ...] = ()
    effect: str = ""
    status: str = "active"
    homepage: str = ""
    repository: str = ""
    updated_at: str = ""
    short: str = ""
    warnings: tuple[str, ...] = ()
    ways: tuple[InstallOption, ...] = ()

    @property
    def source(self) -> str:
        """Sort key: the marketplace."""
        return self.market

    @property
    def name(self) -> str:
        """Sort key within the marketplace: the id."""
        return self.id


class UnusableEntry(ValueError):
    """An entry cannot be used; the message says why, without quoting its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """One page of a catalogue.

    Attributes:
        skipped: Reason and name of each entry that was left out.
        following: Address of the next page; empty at the end.
    """

    entries: tuple[MarketEntry, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    following: str = ""


def entry_to_dict(entry: MarketEntry) -> dict[str, Any]:
    """Return an entry for a list, as JSON-compatible data."""
    return {
        "marketplace": entry.market,
        "entry": entry.id,
        "kind": entry.kind,
        "title": entry.title,
        "description": entry.description,
        "version": entry.version,
        "publisher": entry.publisher,
        "capabilities": [{"name": item.name, "told_as": item.told_as} for item in entry.labels],
        "effect": entry.effect,
        "status": entry.status,
        "updated_at": entry.updated_at,
    }
