"""Whether a call may be done again: retries, idempotency keys and graphs ask the same."""

from pegboard.core.tool import Effect, Retry, ToolSpec
from pegboard.errors import CallerError, PegboardError, Unavailable

_MOST_DOUBLINGS = 64  # far beyond any wait, and still a number


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


def may_repeat(policy: Retry, error: PegboardError, *, repeatable: bool) -> bool:
    """Whether a retry policy lets a call that failed so be done again."""
    if isinstance(error, CallerError) or not _is_named(policy, error):
        return False
    return repeatable or did_nothing(error)


def delay_before(policy: Retry, retries: int, error: PegboardError, random: float) -> float:
    """Exponential backoff with full jitter, and never sooner than the error asks for.

    Args:
        policy: How long to wait.
        retries: How many there have been.
        error: What the call failed with.
        random: From 0 to 1.
    """
    longest = min(policy.max_backoff, policy.backoff * 2.0 ** min(retries, _MOST_DOUBLINGS))
    return max(random * longest, error.retry_after or 0.0)


def _is_named(policy: Retry, error: PegboardError) -> bool:
    if not policy.on:
        return error.retryable
    return any(
        error.code == item
        if isinstance(item, str)
        else isinstance(error, item) or isinstance(error.__cause__, item)
        for item in policy.on
    )
