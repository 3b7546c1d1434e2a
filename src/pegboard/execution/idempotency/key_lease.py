"""Keys that servers share: who has one says from time to time that its call still runs."""

import asyncio
import logging
from types import TracebackType
from typing import Self

from msgspec import structs

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.call_stores import Outcome
from pegboard.errors import PegboardError
from pegboard.execution.environment import CallEnvironment

_LOG = logging.getLogger("pegboard.calls")
_SHARE = 3
"""So often within its lease is a key held on to: two of them may fail."""


def leased(kit: CallEnvironment, claim: Outcome, call_id: str) -> Outcome:
    """The claim as others see it: held by this call for a while, where there are others."""
    lease = kit.settings.key_lease
    if not lease:
        return claim
    return structs.replace(claim, holder=call_id, held_until=kit.now() + lease)


def is_held(kit: CallEnvironment, claim: Outcome) -> bool:
    """Whether its call may still run, in another process."""
    return claim.held_until is not None and claim.held_until > kit.now()


async def taken_over(kit: CallEnvironment, left: Outcome, claim: Outcome) -> bool:
    """Take a claim whose call is gone; False when somebody else has been first.

    Raises:
        Unavailable: The store cannot be written.
    """
    return await kit.outcomes.hold(left, by=claim.holder, until=claim.held_until)


class KeyLease:
    """Holds on to a key while the call inside runs; does nothing where no server shares it."""

    def __init__(self, kit: CallEnvironment, claim: Outcome) -> None:
        """Hold this claim, which has been stored."""
        self._kit = kit
        self._claim = claim
        self._every = kit.settings.key_lease / _SHARE
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        if self._every:
            self._timer = asyncio.get_running_loop().call_later(self._every, self._begin)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for item in (self._timer, self._task):
            if item is not None:
                item.cancel()

    def _begin(self) -> None:
        self._task = asyncio.create_task(self._go_on(), name="hold an idempotency key")

    async def _go_on(self) -> None:
        kit, claim = self._kit, self._claim
        is_ours = True
        while is_ours:
            until = kit.now() + kit.settings.key_lease
            with log_and_continue(_LOG, "an idempotency key could not be held on to"):
                try:
                    is_ours = await kit.outcomes.hold(claim, by=claim.holder, until=until)
                except PegboardError as error:
                    _LOG.warning("an idempotency key could not be held on to, yet: %s", error)
            await asyncio.sleep(self._every)
