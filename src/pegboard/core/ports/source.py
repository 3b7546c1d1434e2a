"""The source port: where tools come from."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pegboard.core.health import Health
from pegboard.core.ports.accounts.credentials import CallerAuth
from pegboard.core.tool import Tool, ToolSpec

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pegboard.core.ports.services import Services


class Source(Protocol):
    """A configured source instance, open until `close`."""

    @property
    def name(self) -> str:
        """The instance name, the first part of the wire names of its tools."""
        ...

    async def tools(self) -> Sequence[Tool]:
        """List all tools; called again after a change.

        Raises:
            SourceUnavailable: The tools cannot be listed; the message says why and what to do.
        """
        ...

    async def health(self) -> Health:
        """Check the source cheaply; a failure of the foreign system is a status, not an error."""
        ...

    async def close(self) -> None:
        """Release everything that `open` acquired; safe to call twice."""
        ...

    def on_change(self, notify: Callable[[], None]) -> None:
        """Call `notify` whenever the result of `tools()` changes; at most one listener."""
        ...


@runtime_checkable
class ProblemReporter(Protocol):
    """A source that reports what it left out of its list, and why."""

    @property
    def problems(self) -> Sequence[str]:
        """The problems of the last listing, safe to show; empty when there are none.

        Reading it makes no request.
        """
        ...


@runtime_checkable
class FileReader(Protocol):
    """A source that reads its tools from files, which a server can watch."""

    def files(self) -> Sequence[Path]:
        """The files that its tools are read from, missing ones included; may read folders.

        Called from any thread.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKind:
    """A kind of source, found by entry point `pegboard.sources`.

    Attributes:
        kind: Its name in `board.yaml`.
        config: The frozen pydantic model of its `config:` section.
        open: Opens an instance from its name, its config and the board's services.
        extra: The distribution extra with its drivers; empty when none is needed.
        trusts: Whether the results of an instance with this config are trusted, unless the operator
            says otherwise or a tool says `trusted=False`; by default they are.
        remote: Whether its calls leave this process; a circuit breaker then guards each instance.
        expand: Makes several instances of one entry, as for a file that names many servers; given
            the entry's name (empty when it has none), its config, the folder that relative paths
            start from and the variables of the process. Raises `ConfigError`.
        preview: Tells the spec of an instance's only tool without opening it; None where it has
            more, or where only opening it tells. Raises what `open` raises.
        find_local_use: Tells what a configuration uses of the server's own machine, as a process or
            a file; empty for nothing. Only operators may open what uses any. None where each
            configuration does.
        caller_auth: Tells what an instance takes from its callers; None where none takes anything.
        plain_names: The names by which its tools are found without that of the source, while no
            other tool has them: the `alias` of each.
    """

    kind: str
    title: str
    config: "type[BaseModel]"
    open: "Callable[[str, Any, Services], Awaitable[Source]]"
    extra: str = ""
    trusts: "Callable[[Any], bool]" = bool
    remote: bool = False
    expand: "Callable[[str, Any, Path, Mapping[str, str]], Sequence[tuple[str, Any]]] | None" = None
    preview: "Callable[[str, Any, Services], ToolSpec | None] | None" = None
    find_local_use: "Callable[[Any], str] | None" = None
    caller_auth: Callable[[Any], CallerAuth | None] | None = None
    plain_names: Callable[[], Collection[str]] = tuple[str, ...]
