"""Whether a call may be done again: retries and idempotency keys ask the same question."""

from pegboard.core.tool import Effect, ToolSpec
from pegboard.errors import PegboardError, Unavailable


def is_repeatable(spec: ToolSpec) -> bool:
    """Whether doing it twice is as good as once.

    Giving a retry policy is the author's word for it, unless they also said that it is not.
    """
    if spec.effect is Effect.READ or spec.idempotent:
        return True
    return spec.retry is not None and spec.idempotent is None


def did_nothing(error: PegboardError) -> bool:
    """Whether the attempt says itself that it had no effect."""
    return isinstance(error, Unavailable) and error.nothing_done
