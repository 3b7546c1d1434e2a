"""What is started as a server, and what to check when it cannot be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pegboard.errors import MCPConnectionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to start.

    Attributes:
        environment: All of the child's variables.
        hide: Takes secrets out of what the child says on stderr.
    """

    name: str
    program: str
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    directory: Path
    hide: Callable[[str], str]


def not_started(command: Command, error: OSError | ValueError) -> MCPConnectionError:
    """Why the system does not start it."""
    if isinstance(error, FileNotFoundError):
        advice = f"there is no program '{command.program}'; install it, or give its full path"
    elif isinstance(error, PermissionError):
        advice = f"'{command.program}' may not be executed; check its permissions"
    else:
        reason = getattr(error, "strerror", "") or type(error).__name__
        advice = f"'{command.program}' cannot be started ({reason}); check 'command' and 'args'"
    return MCPConnectionError(f"{command.name}: {advice}.", permanent=True, nothing_done=True)
