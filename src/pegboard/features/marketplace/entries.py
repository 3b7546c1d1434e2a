"""What a marketplace is, and what an entry of it says, whatever its format."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

MarketKind = Literal["mcp_registry", "openapi_directory", "pegboard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """An external catalogue that the board file names.

    Attributes:
        place: The file or address of its document; the address of another Pegboard.
        token: What another Pegboard lets us in with; empty for none.
        token_as: How the board file writes it, as `${HQ_TOKEN}`.
        base_dir: What a relative file starts from.
    """

    kind: MarketKind
    name: str
    place: str
    token: str = field(default="", repr=False)
    token_as: str = field(default="", repr=False)
    base_dir: Path = field(default_factory=Path)

    @property
    def is_remote(self) -> bool:
        """Whether it is asked over the network."""
        return self.place.lower().startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A word that an entry is found by.

    Attributes:
        told_as: What its catalogue calls such a word: `capability`, `category`, `tag`, `keyword`.
    """

    name: str
    told_as: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredValue:
    """What whoever adds an entry has to give.

    Attributes:
        name: What the entry calls it.
        place: `variable`, `argument`, `header` or `address`.
        variable: The variable of the board's process that would be read for it.
    """

    name: str
    place: str
    variable: str
    description: str = ""
    is_secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallOption:
    """One way of having an entry on the board.

    Attributes:
        name: `remote-1`, `package-1`, ...
        source_kind: What kind of source it would be.
        config: Of that source, as a board file has it: values that are missing as `${VARIABLE}`.
        runs_here: Whether it starts a program on this machine.
        address: Where its server, or the document of it, is; empty for a program.
        command: The whole command line of a program.
        needs: What is missing.
        only: The one tool that it is about; empty for all of its server.
        warnings: What to know before.
        problem: Why it cannot be had so at all; empty when it can.
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
    """What a catalogue says of something that could be added.

    Attributes:
        id: What the catalogue calls it.
        kind: `MCP server`, `REST API` or `tool`.
        publisher: Who stands behind it, as far as the catalogue says.
        effect: Of a single tool; empty where the catalogue does not say.
        short: What its tools' names begin with by default.
        ways: The best one first.
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
        """Where it comes first in the order of entries: its marketplace."""
        return self.market

    @property
    def name(self) -> str:
        """And among those of one marketplace."""
        return self.id


class UnusableEntry(ValueError):
    """What an entry says cannot be used; the message says why, without what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """What one answer of a catalogue says.

    Attributes:
        skipped: Why an entry was left out, once for each, with what it is called.
        following: The address of the next page; empty at the end.
    """

    entries: tuple[MarketEntry, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    following: str = ""


def entry_to_dict(entry: MarketEntry) -> dict[str, Any]:
    """What a list shows of an entry."""
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
