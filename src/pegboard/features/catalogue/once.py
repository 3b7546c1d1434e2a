"""Doing something once for each idempotency key, outside the path of a call."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from pegboard.core.event import digest_of
from pegboard.core.ports.store import Outcome, OutcomeStore
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.errors import IdempotencyConflict
from pegboard.execution.call import owner_of

Answer = Mapping[str, Any]


class Once:
    """Gives the first answer again when a key comes back with the same request.

    Args:
        outcomes: Where first answers are kept.
        now: Unix seconds.
    """

    def __init__(self, outcomes: OutcomeStore, *, now: Callable[[], float]) -> None:
        self._outcomes = outcomes
        self._now = now

    async def do(
        self,
        work: Callable[[], Awaitable[Answer]],
        *,
        what: str,
        key: str,
        request: Any,
        principal: Principal,
    ) -> Answer:
        """Do it, or give the first answer; without a key it is done each time.

        Args:
            work: What is to be done; nothing is kept of it when it fails.
            what: Names the kind of work, so that each has keys of its own.
            key: The idempotency key; empty for none.
            request: What was asked, as JSON-compatible data.
            principal: Who asks; each caller has keys of its own.

        Raises:
            IdempotencyConflict: The key stands for another request, or the first one still runs.
        """
        if not key:
            return await work()
        owner, place, digest = owner_of(principal), f"{what}:{key}", digest_of(request)
        outcome = Outcome(key=place, owner=owner, tool=what, digest=digest, created_at=self._now())
        first = await self._outcomes.claim(outcome)
        if first is not None:
            return _known(first, digest)
        try:
            answer = await work()
        except BaseException:
            await self._outcomes.release(owner, place)
            raise
        await self._outcomes.settle(owner, place, ToolResult(structured=dict(answer)))
        return answer


def _known(first: Outcome, digest: str) -> Answer:
    if first.digest != digest:
        raise IdempotencyConflict("This idempotency key was used for another request.")
    if first.result is None:
        raise IdempotencyConflict("The first request with this idempotency key has not ended.")
    return cast("Answer", first.result.structured)
