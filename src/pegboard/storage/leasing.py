"""Who may play a run: the same in every storage."""

from pegboard.core.graph import NodeState
from pegboard.errors import Unavailable

GOES_ON = (NodeState.PENDING, NodeState.READY, NodeState.IN_PROGRESS)
"""States in which a run goes on when somebody plays it; in all others it waits for something."""


def lease_lost_error(run_id: str) -> Unavailable:
    """What an owner hears that has the lease no longer: nothing was changed, and trying is vain."""
    return Unavailable(
        f"The run '{run_id}' is played by somebody else now.", nothing_done=True, permanent=True
    )
