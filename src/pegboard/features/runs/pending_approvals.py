"""Approvals that runs wait for: which they are, and how an answer to a run decides one."""

from collections.abc import Mapping
from typing import Any, Literal, cast

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import CONTROL
from pegboard.core.ports.run_store import RunQuery, RunStore, StoredSignal
from pegboard.core.principal import Principal
from pegboard.core.run import Pending
from pegboard.errors import InvalidRequest
from pegboard.features.approvals import Approvals

CANCELLED = "the run was cancelled"
_ENDED = "the run has ended"
_ENDS = {NodeState.CANCELLED: CANCELLED, NodeState.FAILED: "the run has failed"}
_PAGE = 500


async def awaited(store: RunStore) -> dict[str, list[str]]:
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


async def ended(store: RunStore, run_id: str) -> str:
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


async def decide(
    approvals: Approvals, asked: Pending, answer: Any, *, principal: Principal
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


def _read(asked: Pending, answer: Any) -> tuple[Literal["approve", "deny"], str]:
    given: Mapping[str, Any] = (
        cast("Mapping[str, Any]", answer) if isinstance(answer, Mapping) else {"answer": answer}
    )
    decision, note = given.get("answer"), given.get("note", "")
    if decision not in ("approve", "deny"):
        choices = ", ".join(asked.choices)
        raise InvalidRequest(f"The answer is one of {choices}; found {decision!r}.")
    if not isinstance(note, str):
        raise InvalidRequest("The note of an answer is text.")
    return decision, note
