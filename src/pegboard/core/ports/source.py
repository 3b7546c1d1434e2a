"""Where tools come from: what a source plug offers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pegboard.core.health import Health
from pegboard.core.tool import Tool, ToolSpec

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pegboard.core.ports.services import Services


class Source(Protocol):
    """One configured source instance, open until `close`."""

    @property
    def name(self) -> str:
        """The instance's name, the first part of its tools' wire names."""
        ...

    async def tools(self) -> Sequence[Tool]:
        """All its tools as of now; called again after a change.

        Raises:
            SourceUnavailable: With the reason and what to do.
        """
        ...

    async def health(self) -> Health:
        """A cheap check; never raises for a foreign failure."""
        ...

    async def close(self) -> None:
        """Give back everything that `open` took; safe to call twice."""
        ...

    def on_change(self, notify: Callable[[], None]) -> None:
        """Call `notify` whenever `tools()` would answer differently; at most one listener."""
        ...


@runtime_checkable
class ProblemReporter(Protocol):
    """A source that leaves things out of what it lists, and says what and why."""

    @property
    def problems(self) -> Sequence[str]:
        """What is wrong with what was listed last, safe to show; nothing when all is well.

        It is known without asking anybody: reading it costs nothing.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKind:
    """A kind of source, found by entry point `pegboard.sources`.

    Attributes:
        kind: What `board.yaml` calls it.
        config: The frozen pydantic model of its `config:` section.
        open: Makes an instance from its name, its config and the board's services.
        extra: The distribution extra that brings its drivers; empty when none is needed.
        remote: Whether its calls leave this machine's process: then a breaker guards each instance.
        expand: Makes several instances of one entry, as for a file that names many servers; given
            the entry's name (empty when it has none), its config, the folder that relative paths
            start from and the variables of the process. Raises `ConfigError`.
        preview: Tells the spec of an instance's only tool without opening it; None where it has
            more, or where only opening it tells. Raises what `open` raises.
    """

    kind: str
    title: str
    config: "type[BaseModel]"
    open: "Callable[[str, Any, Services], Awaitable[Source]]"
    extra: str = ""
    remote: bool = False
    expand: "Callable[[str, Any, Path, Mapping[str, str]], Sequence[tuple[str, Any]]] | None" = None
    preview: "Callable[[str, Any, Services], ToolSpec | None] | None" = None
