"""Audit events of runs: control requests, answers, unknown outcomes and failover."""

from typing import Any, cast

from pegboard.core.event import BoardChanged, digest_of
from pegboard.core.ports.run_store import RunEvent, StoredRun
from pegboard.core.principal import Principal
from pegboard.core.run import PendingStep

KIND = "run"


def control_event(run: StoredRun, action: str, *, principal: Principal, at: float) -> BoardChanged:
    """A caller has paused, resumed or cancelled a run."""
    return BoardChanged(
        kind=KIND,
        action=action,
        at=at,
        subject=run.start.run_id,
        by=principal.id,
        tenant=run.start.principal.tenant,
    )


def answer_event(
    run: StoredRun, asked: PendingStep, answer: Any, *, principal: Principal, at: float
) -> BoardChanged:
    """A caller has answered a run; of a free answer only the digest is recorded."""
    given = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {"answer": answer}
    chosen = {"answer": given.get("answer")} if asked.choices else {}
    return BoardChanged(
        kind=KIND,
        action="answered",
        at=at,
        subject=run.start.run_id,
        by=principal.id,
        tenant=run.start.principal.tenant,
        detail={"step": asked.step, "asked": asked.kind, **chosen, "digest": digest_of([answer])},
    )


def unknown_outcome_event(run: StoredRun, event: RunEvent) -> BoardChanged:
    """A call of a run was interrupted, and it is unknown whether it took effect."""
    facts = {name: event.data[name] for name in ("tool", "reason") if event.data.get(name)}
    return BoardChanged(
        kind=KIND,
        action="unknown",
        at=event.at,
        subject=run.start.run_id,
        tenant=run.start.principal.tenant,
        detail={"step": event.data["node"], **facts, "principal": run.start.principal.id},
    )


def failover_event(run: StoredRun, event: RunEvent) -> BoardChanged:
    """A substitute was called in place of an unavailable tool."""
    facts = {name: event.data.get(name, "") for name in ("tool", "instead_of", "state")}
    return BoardChanged(
        kind=KIND,
        action="healed",
        at=event.at,
        subject=run.start.run_id,
        tenant=run.start.principal.tenant,
        detail={"step": event.data["node"], **facts, "principal": run.start.principal.id},
    )
