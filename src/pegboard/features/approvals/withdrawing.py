"""Taking back what a run has asked, as soon as it has ended."""

import asyncio
import logging

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.event import Event, RunFinished
from pegboard.errors import PegboardError
from pegboard.features.approvals.service import Approvals

_LOG = logging.getLogger("pegboard.approvals")
_HOW = {
    "cancelled": "the run was cancelled",
    "failed": "the run has failed",
    "completed": "the run has ended",  # a step whose time was up leaves what it asked
}


class ApprovalWithdrawalListener:
    """A listener that takes back the approvals of runs that have ended.

    What it misses, as by a crash, is found when the approvals are looked through, or decided.
    """

    def __init__(self, approvals: Approvals) -> None:
        """Take them back there."""
        self._approvals = approvals
        self._ended: asyncio.Queue[RunFinished] = asyncio.Queue()

    def on_event(self, event: Event) -> None:
        """Take note of a run that has ended and may still be asking."""
        if isinstance(event, RunFinished) and event.state in _HOW:
            self._ended.put_nowait(event)

    async def watch(self) -> None:
        """Take back what the runs have asked, one after the other, until cancelled."""
        while True:
            event = await self._ended.get()
            with log_and_continue(_LOG, "what runs have asked is withdrawn later"):
                try:
                    await self._approvals.withdraw(event.run_id, note=_HOW[event.state])
                except PegboardError:
                    _LOG.warning("what the run %s has asked is withdrawn later", event.run_id)
