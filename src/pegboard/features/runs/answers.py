"""Answers to runs: questions, and the approvals that runs wait for."""

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
    """Delivers answers to waiting runs.

    Args:
        registry: Its call environment emits events and reads approvals.
        store: Stores runs and their signals.
        runner: Executes the runs.
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
        """Answer a question of a run; an approval that it waits for is decided.

        Raises:
            InvalidRequest: The run does not ask this, or the answer does not match.
            AlreadyAnswered: Another answer came first.
        """
        run_id = run.start.run_id
        pending = (await self._runner.result(run_id, wait=False)).pending
        asked = next((item for item in pending if item.id == pending_id), None)
        if asked is not None and approvals is not None and asked.approval_id:
            await decide_approval(approvals, asked, answer, principal=principal)
            return
        if asked is None:
            await self._check_unanswered(run_id, pending_id)
        await self._runner.answer(run_id, pending_id, answer, by=principal.owner)
        kit = self._registry.environment
        if asked is not None:
            kit.emitter.emit(answer_event(run, asked, answer, principal=principal, at=kit.now()))

    async def wait_until_settled(self, run_id: str) -> None:
        """Wait until a run has ended, or waits for something that is still undecided.

        Decisions that were made while no server executed the run are delivered to it.

        Raises:
            RunNotFound: There is no such run.
            Unavailable: The run cannot be executed here now.
        """
        notified: set[str] = set()
        while True:
            seen = await self._runner.result(run_id)
            asked = {item.approval_id for item in seen.pending if item.approval_id} - notified
            late = [approval_id for approval_id in asked if await self._is_decided(approval_id)]
            if not late:
                return
            notified.update(late)
            for approval_id in late:
                await self.notify_decision(run_id, approval_id)

    async def notify_decision(self, run_id: str, approval_id: str) -> None:
        """Let the steps that wait for this approval repeat their call; a denied one fails then.

        Raises:
            RunNotFound: There is no such run.
        """
        seen = await self._runner.result(run_id, wait=False)
        awaited = [item for item in seen.pending if item.approval_id == approval_id]
        if not awaited and not seen.state.is_final:  # other steps of the run are still running
            await self._runner.notify_approval(run_id, approval_id)
        for item in awaited:
            try:
                await self._runner.answer(run_id, item.id, {"answer": "approve"})
            except (AlreadyAnswered, InvalidRequest):  # or it has continued meanwhile
                continue

    async def _is_decided(self, approval_id: str) -> bool:
        found = await self._registry.environment.approvals.get(approval_id)
        return found is not None and found.state != "pending"

    async def _check_unanswered(self, run_id: str, pending_id: str) -> None:
        """Tell an answered question from one that was never asked."""
        wanted = answer_id(pending_id)
        for item in await self._store.signals(run_id):
            if item.signal.id == wanted:
                raise AlreadyAnswered(f"'{pending_id}' has already been answered.")


async def find_awaited_approvals(store: RunStore) -> dict[str, list[str]]:
    """Return the ids of the runs that wait for each approval, by approval id."""
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


async def find_askers(store: RunStore, run_id: str) -> frozenset[str]:
    """Who asked for what a run does: who started it, and who sent it messages or answers."""
    run = await store.get(run_id)
    sent = {item.signal.by for item in await store.signals(run_id) if item.signal.by}
    return frozenset(sent if run is None else {run.start.principal.owner, *sent})


async def find_end_reason(store: RunStore, run_id: str) -> str:
    """Say why a run no longer needs an approval; empty while it may, and for an unknown run.

    A run that was asked to cancel counts as ended, whichever server executes it.
    """
    run = await store.get(run_id)
    if run is None:
        return ""
    if run.finished_at is not None:
        return _ENDS.get(run.state, _ENDED)
    requests = {(item.signal.topic, item.signal.message) for item in await _controls(store, run_id)}
    return CANCELLED if (CONTROL, "cancel") in requests else ""


async def _controls(store: RunStore, run_id: str) -> list[StoredSignal]:
    return [item for item in await store.signals(run_id) if item.signal.topic == CONTROL]


async def decide_approval(
    approvals: Approvals, asked: PendingStep, answer: Any, *, principal: Principal
) -> None:
    """Decide the approval that a run waits for, as the caller who answers the run.

    Raises:
        InvalidRequest: The answer is not a decision.
        AccessDenied: The caller may see the run, but not decide.
        ApprovalDecided: Another decision came first.
        ApprovalExpired: The approval has expired.
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
