"""What a source may use of the board."""

from dataclasses import dataclass, field
from pathlib import Path

from pegboard.core.ports.clock import Clock, SystemClock
from pegboard.core.ports.http import HttpClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Handed to `SourceKind.open`.

    Attributes:
        http: The one guarded outbound HTTP client; None on a board without network.
        base_dir: The folder that relative paths of the configuration start from.
        data_dir: The board's data directory; None on a board that keeps nothing.
        workspace: The folder that file tools are jailed to unless a call names another; shared by
            all callers.
        workspaces: Without a `workspace`, the folder in which each caller gets one of its own.
    """

    http: HttpClient | None = None
    base_dir: Path = field(default_factory=Path.cwd)
    data_dir: Path | None = None
    workspace: Path | None = None
    workspaces: Path | None = None
    clock: Clock = field(default_factory=SystemClock)
