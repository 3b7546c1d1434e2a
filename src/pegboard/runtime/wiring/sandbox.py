"""Where foreign code and commands run."""

from typing import TYPE_CHECKING

from pegboard.runtime.board_file.models import SandboxEntry

if TYPE_CHECKING:
    from pegboard.sandbox import ProbedSandbox


def sandbox(entry: SandboxEntry) -> "ProbedSandbox":
    """The sandbox of a board; nothing is probed before somebody asks."""
    from pegboard.sandbox import ProbedSandbox

    return ProbedSandbox(allowed=entry.back_ends, network=entry.network)
