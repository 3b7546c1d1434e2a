"""Leases of idempotency keys: a server renews the keys of its running calls."""

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
"""Renewals per lease, so that two of them may fail."""


def add_lease(environment: CallEnvironment, claim: Outcome, call_id: str) -> Outcome:
    """The claim with a lease for this call, where servers share the store."""
    lease = environment.settings.key_lease
    if not lease:
        return claim
    return structs.replace(claim, holder=call_id, held_until=environment.now() + lease)


def is_held(environment: CallEnvironment, claim: Outcome) -> bool:
    """Whether the lease of a claim, by another process, has not expired."""
    return claim.held_until is not None and claim.held_until > environment.now()


async def take_over(environment: CallEnvironment, left: Outcome, claim: Outcome) -> bool:
    """Take over a claim whose lease has expired; False when another call was first.

    Raises:
        Unavailable: The store cannot be written.
    """
    return await environment.outcomes.hold(left, by=claim.holder, until=claim.held_until)


class KeyLease:
    """Renews the lease of a key while the body runs; does nothing where servers share no store."""

    def __init__(self, environment: CallEnvironment, claim: Outcome) -> None:
        """Renew the lease of this claim, which is already stored."""
        self._environment = environment
        self._claim = claim
        self._every = environment.settings.key_lease / _SHARE
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
        self._task = asyncio.create_task(
            self._go_on(), name="renew the lease of an idempotency key"
        )

    async def _go_on(self) -> None:
        environment, claim = self._environment, self._claim
        is_ours = True
        while is_ours:
            until = environment.now() + environment.settings.key_lease
            with log_and_continue(_LOG, "idempotency: lease of a key not renewed"):
                try:
                    is_ours = await environment.outcomes.hold(claim, by=claim.holder, until=until)
                except PegboardError as error:
                    _LOG.warning("idempotency: lease of a key not renewed: %s", error)
            await asyncio.sleep(self._every)
