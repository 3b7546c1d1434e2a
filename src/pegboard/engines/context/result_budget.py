"""Layer 1: how much of each result of a turn the model is shown; the rest is behind a handle."""

from pegboard.core.text.measure import BYTES_PER_UNIT
from pegboard.engines.context.limits import ContextLimits
from pegboard.execution.steps.shape_result import RESULT_FRAME

_LEAST = 200
_SHARE = 0.6
"""Of the free room, what the results of one turn may take together."""
_UNKNOWN = 200_000
"""Bytes of all results of a turn where no window is known."""


def share_results(limits: ContextLimits, *, count: int, free_units: int | None) -> int:
    """Bytes of each result of a turn.

    Args:
        limits: The most for one result.
        count: Calls of the turn.
        free_units: The room beside what every request has to show; None where no window is known.
    """
    total = _UNKNOWN if free_units is None else int(free_units * BYTES_PER_UNIT * _SHARE)
    share = total // max(1, count) - RESULT_FRAME
    return max(_LEAST, min(limits.result_bytes, share))
