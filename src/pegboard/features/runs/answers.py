"""Answers to runs: each question has one, and whoever comes later is told so."""

from typing import Any

from pegboard.core.ports.run_store import RunStore, StoredRun
from pegboard.core.principal import Principal
from pegboard.errors import AlreadyAnswered, InvalidRequest
from pegboard.features.approvals import Approvals
from pegboard.features.runs.audit_events import answered
from pegboard.features.runs.pending_approvals import decide
from pegboard.graphs import GraphRunner
from pegboard.graphs.runner import answer_id
from pegboard.registry import ToolRegistry


class RunAnswers:
    """Passes answers to the runs that ask.

    Args:
        registry: Who is told.
        store: Where runs are kept.
        runner: Plays them.
    """

    def __init__(self, registry: ToolRegistry, store: RunStore, runner: GraphRunner) -> None:
        self._registry = registry
        self._store = store
        self._runner = runner

    async def answer(
        self,
        run: StoredRun,
        pending_id: str,
        answer: Any,
        *,
        approvals: Approvals | None,
        principal: Principal,
    ) -> None:
        """Answer what a run asks; an approval is decided by it.

        Raises:
            InvalidRequest: It does not ask this, or the answer does not fit.
            AlreadyAnswered: Somebody was first.
        """
        run_id = run.start.run_id
        pending = (await self._runner.result(run_id, wait=False)).pending
        asked = next((item for item in pending if item.id == pending_id), None)
        if asked is not None and approvals is not None and asked.approval_id:
            await decide(approvals, asked, answer, principal=principal)
            return
        if asked is None:
            await self._check_unanswered(run_id, pending_id)
        await self._runner.answer(run_id, pending_id, answer)
        kit = self._registry.kit
        if asked is not None:
            kit.emitter.emit(answered(run, asked, answer, principal=principal, at=kit.now()))

    async def settled(self, run_id: str) -> None:
        """Return once a run has ended, or waits for what nobody has decided yet.

        What was decided while nobody played the run, or while it was looking elsewhere, it is told.

        Raises:
            RunNotFound: There is no such run.
            Unavailable: It cannot be played here and now.
        """
        told: set[str] = set()
        while True:
            seen = await self._runner.result(run_id)
            asked = {item.approval_id for item in seen.pending if item.approval_id} - told
            late = [approval_id for approval_id in asked if await self._is_decided(approval_id)]
            if not late:
                return
            told.update(late)
            for approval_id in late:
                await self.decided(run_id, approval_id)

    async def decided(self, run_id: str, approval_id: str) -> None:
        """Let whatever waits for this approval call again: also a denied call hears it so.

        Raises:
            RunNotFound: There is no such run.
        """
        seen = await self._runner.result(run_id, wait=False)
        for item in seen.pending:
            if item.approval_id == approval_id:
                try:
                    await self._runner.answer(run_id, item.id, {"answer": "approve"})
                except (AlreadyAnswered, InvalidRequest):  # or it has gone on meanwhile
                    continue

    async def _is_decided(self, approval_id: str) -> bool:
        found = await self._registry.kit.approvals.get(approval_id)
        return found is not None and found.state != "pending"

    async def _check_unanswered(self, run_id: str, pending_id: str) -> None:
        """What was answered is asked no longer: that is another thing than a wrong question."""
        wanted = answer_id(pending_id)
        for item in await self._store.signals(run_id):
            if item.signal.id == wanted:
                raise AlreadyAnswered(
                    f"'{pending_id}' was answered already: the first answer holds."
                )
