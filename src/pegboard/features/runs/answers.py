"""Answers to runs: each question has one, and whoever comes later is told so."""

from collections.abc import Mapping
from typing import Any, Literal, cast

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import CONTROL
from pegboard.core.ports.run_store import RunQuery, RunStore, StoredRun, StoredSignal
from pegboard.core.principal import Principal
from pegboard.core.run import PendingStep
from pegboard.errors import AlreadyAnswered, InvalidRequest
from pegboard.features.approvals import Approvals
from pegboard.features.runs.audit_events import answer_event
from pegboard.graphs import GraphRunner
from pegboard.graphs.runner import answer_id
from pegboard.registry import ToolRegistry

CANCELLED = "the run was cancelled"
_ENDED = "the run has ended"
_ENDS = {NodeState.CANCELLED: CANCELLED, NodeState.FAILED: "the run has failed"}
_PAGE = 500


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
            await decide_approval(approvals, asked, answer, principal=principal)
            return
        if asked is None:
            await self._check_unanswered(run_id, pending_id)
        await self._runner.answer(run_id, pending_id, answer)
        kit = self._registry.kit
        if asked is not None:
            kit.emitter.emit(answer_event(run, asked, answer, principal=principal, at=kit.now()))

    async def wait_until_settled(self, run_id: str) -> None:
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
                await self.notify_decision(run_id, approval_id)

    async def notify_decision(self, run_id: str, approval_id: str) -> None:
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
                raise AlreadyAnswered(f"'{pending_id}' has already been answered.")


async def find_awaited_approvals(store: RunStore) -> dict[str, list[str]]:
    """The approvals that runs wait for, and those runs."""
    found: dict[str, list[str]] = {}
    cursor = ""
    while True:
        page = await store.runs(RunQuery(state=NodeState.WAITING, limit=_PAGE, cursor=cursor))
        for run in page.runs:
            for item in run.result.pending if run.result is not None else ():
                if item.approval_id:
                    found.setdefault(item.approval_id, []).append(run.start.run_id)
        if not (cursor := page.next_cursor):
            return found


async def find_end_reason(store: RunStore, run_id: str) -> str:
    """Why a run needs no approval any more; empty while it may, and for what is no stored run.

    One that was told to end will, whoever plays it.
    """
    run = await store.get(run_id)
    if run is None:
        return ""
    if run.finished_at is not None:
        return _ENDS.get(run.state, _ENDED)
    told = {(item.signal.topic, item.signal.message) for item in await _controls(store, run_id)}
    return CANCELLED if (CONTROL, "cancel") in told else ""


async def _controls(store: RunStore, run_id: str) -> list[StoredSignal]:
    return [item for item in await store.signals(run_id) if item.signal.topic == CONTROL]


async def decide_approval(
    approvals: Approvals, asked: PendingStep, answer: Any, *, principal: Principal
) -> None:
    """Decide the approval that a run asks for, as whoever answers the run.

    Raises:
        InvalidRequest: The answer is none.
        AccessDenied: The caller may see the run, and not decide.
        ApprovalDecided: Somebody was first.
        ApprovalExpired: It is too late.
    """
    decision, note = _read(asked, answer)
    await approvals.decide(asked.approval_id, decision, note=note, principal=principal)


def _read(asked: PendingStep, answer: Any) -> tuple[Literal["approve", "deny"], str]:
    given: Mapping[str, Any] = (
        cast("Mapping[str, Any]", answer) if isinstance(answer, Mapping) else {"answer": answer}
    )
    decision, note = given.get("answer"), given.get("note", "")
    if decision not in ("approve", "deny"):
        choices = ", ".join(asked.choices)
        raise InvalidRequest(f"The answer must be one of {choices}, not {decision!r}.")
    if not isinstance(note, str):
        raise InvalidRequest("The note of an answer must be text.")
    return decision, note
