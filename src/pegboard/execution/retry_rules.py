"""When a call may be repeated: one set of rules for retries, idempotency keys and graphs."""

from pegboard.core.tool import AGENT, Effect, Retry, ToolSpec
from pegboard.errors import CallerError, PegboardError, Unavailable

_MAX_DOUBLINGS = 64  # keeps 2.0 ** n finite


def is_repeatable(spec: ToolSpec) -> bool:
    """Whether calling the tool twice has the same effect as once.

    A retry policy counts as the author's promise, unless `idempotent=False` says otherwise. An
    agent is repeatable as well: in a run it goes on, and each of its calls has a key of its own.
    """
    if spec.effect is Effect.READ or spec.idempotent:
        return True
    return spec.idempotent is None and (spec.retry is not None or spec.handler == AGENT)


def did_nothing(error: PegboardError) -> bool:
    """Whether the error guarantees that the attempt had no effect."""
    return isinstance(error, Unavailable) and error.nothing_done


def may_repeat(policy: Retry, error: PegboardError, *, repeatable: bool) -> bool:
    """Whether a retry policy allows another attempt after this error."""
    if isinstance(error, CallerError) or not _is_named(policy, error):
        return False
    return repeatable or did_nothing(error)


def delay_before(policy: Retry, retries: int, error: PegboardError, random: float) -> float:
    """Seconds to wait: exponential backoff with full jitter, or longer if the error says so.

    Args:
        policy: The backoff and its maximum.
        retries: Number of retries so far.
        error: The error of the last attempt.
        random: From 0 to 1.
    """
    longest = min(policy.max_backoff, policy.backoff * 2.0 ** min(retries, _MAX_DOUBLINGS))
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
