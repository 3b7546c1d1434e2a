"""Runs whose plays end in an error that is no outcome of a node: tried again, but not for ever."""

import logging
import secrets

from msgspec import structs

from pegboard.core.event import RunFinished
from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunStart
from pegboard.core.result import error_to_dict
from pegboard.core.run import RunResult
from pegboard.errors import PegboardError, ToolFailed
from pegboard.graphs.tool_host import ToolHost

_LOG = logging.getLogger("pegboard.graphs")
_MOST_KNOWN = 1_000


class AttemptLimit:
    """Counts the plays of runs that ended in an error, and ends a run that has had enough.

    Args:
        board: Whose clock and listeners.
        most: Plays that may end in an error, in this process and one after the other.
    """

    def __init__(self, board: ToolHost, *, most: int = 5) -> None:
        self._board = board
        self._most = most
        self._failed: dict[str, int] = {}

    def settle(self, run_id: str) -> None:
        """A play of it came to an end."""
        self._failed.pop(run_id, None)

    def failed(self, start: RunStart, error: Exception, *, seen: RunResult | None) -> RunResult:
        """How a run has ended whose last try this was.

        Args:
            start: What it began with.
            error: In which the play ended.
            seen: How it was when it last rested.

        Raises:
            Exception: The error itself: it may be tried again.
        """
        tries = self._failed.pop(start.run_id, 0) + 1
        if tries < self._most:
            self._failed[start.run_id] = tries
            if len(self._failed) > _MOST_KNOWN:
                del self._failed[next(iter(self._failed))]
            raise error
        return self._ended(start, _shown(start.run_id, error), seen)

    def _ended(self, start: RunStart, error: PegboardError, seen: RunResult | None) -> RunResult:
        name = str(start.graph.get("id") or start.graph.get("name") or "")
        seen = seen or RunResult(run_id=start.run_id, state=NodeState.IN_PROGRESS, graph=name)
        took = round((self._board.kit.now() - start.created_at) * 1000, 3)
        result = structs.replace(
            seen,
            state=NodeState.FAILED,
            error=error_to_dict(error),
            output=None,
            pending=(),
            started_at=start.created_at,
            duration_ms=took,
        )
        if self._board.kit.emitter.is_heard:
            self._board.kit.emitter.emit(
                RunFinished(
                    run_id=start.run_id,
                    graph=result.graph,
                    state=result.state.value,
                    started_at=start.created_at,
                    duration_ms=took,
                    error_code=error.code,
                )
            )
        return result


def _shown(run_id: str, error: Exception) -> PegboardError:
    """What may be shown of it; the operator finds all of it in the log."""
    if isinstance(error, PegboardError):
        _LOG.error("the run %s is given up: %s", run_id, error)
        return error
    error_id = f"e_{secrets.token_hex(6)}"
    _LOG.error("the run %s is given up: error id %s", run_id, error_id, exc_info=error)
    return ToolFailed("The run could not be played: an unexpected error.", error_id=error_id)
