"""`/overview`: what needs a person, the latest work, the board, and the calls of a day."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pegboard.access import decide, may_know
from pegboard.core.decision import Action, Verdict
from pegboard.core.graph import NodeState
from pegboard.core.ports.approval_store import ApprovalQuery
from pegboard.core.ports.call_stores import TotalsQuery
from pegboard.core.ports.run_store import RunQuery
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, Status, ToolSpec
from pegboard.features.permissions import AUDIT_SCOPE, CATALOGUE_SCOPE, find_visible_owners
from pegboard.features.runs import RunView
from pegboard.registry.health import with_switches
from pegboard.runtime import Pegboard
from pegboard.runtime.sources.state import SourceState
from pegboard.servers.http.approval_views import show_approvals

_DAY = 24 * 3600.0
_SHOWN = 5
_MOST = 100
"""What waits is counted up to this number."""
_ASKING = frozenset({"person", "unknown"})
_OWN = frozenset({"builtin", "board"})
"""Kinds of sources that every board has."""
_EXAMPLES = 3
_MAX_EXAMPLE = 60
_AT_ONCE = 500
"""Tools that are looked at before other requests have their turn."""

_KnownTool = tuple[ToolSpec, str]
"""A tool that the caller may know of: `ready`, `asks`, `off` or `unavailable`."""


async def create_overview(board: Pegboard, *, principal: Principal) -> dict[str, Any]:
    """An `OverviewAnswer` for this caller, of what the caller may see."""
    tools = await _find_tools(board, principal)
    rows = _board_rows(board, tools, board.list_connectors(principal=principal))
    return {
        "needs_you": await _find_needs(board, principal),
        "latest": await _find_latest(board, principal),
        "board": rows,
        "tools": sum(row["tools"] for row in rows),
        "day": await _sum_day(board, principal),
        "examples": _find_examples(board, tools),
        "model_configured": board.has_model,
        "problem": board.problem,
    }


async def _find_needs(board: Pegboard, principal: Principal) -> dict[str, Any]:
    """Approvals first, then questions of runs, then held definitions and failing sources."""
    pending = ApprovalQuery(state="pending", limit=_MOST)
    approvals = (await board.approvals.list(pending, principal=principal)).approvals
    waiting = RunQuery(state=NodeState.WAITING.value, limit=_MOST)
    asking = RunQuery(limit=_MOST)
    runs = (
        *(await board.runs.list_for_assignee(asking, principal=principal)).runs,
        *(await board.runs.list(waiting, principal=principal)).runs,
    )
    questions = [
        {"kind": item.kind, "run": _run_row(view), "message": item.message, "pending_id": item.id}
        for view in runs
        for item in view.result.pending
        if item.kind in _ASKING
    ]
    sources = [state for state in board.sources if state.status in {"failed", "degraded"}]
    held = board.sources if principal.has_scope(CATALOGUE_SCOPE) else ()
    others = [
        *({"kind": "held", "source": item.name, "count": item.held} for item in held if item.held),
        *({"kind": "source", "source": item.name, "message": item.reason} for item in sources),
    ]
    first = await show_approvals(board, approvals[:_SHOWN], principal=principal)
    items = [*({"kind": "approval", "approval": item} for item in first), *questions, *others]
    return {
        "approvals": len(approvals),
        "count": len(approvals) + len(questions) + len(others),
        "items": items[:_SHOWN],
    }


async def _find_latest(board: Pegboard, principal: Principal) -> list[dict[str, Any]]:
    """The newest runs; of several that answer in one conversation only the last."""
    found: dict[str, RunView] = {}
    page = await board.runs.list(RunQuery(limit=4 * _SHOWN), principal=principal)
    for view in page.runs:
        found.setdefault(view.conversation or view.id, view)
    latest = list(found.values())[:_SHOWN]
    known = await board.conversations.find_of_runs(
        (view.id for view in latest if view.conversation), principal=principal
    )
    return [
        _run_row(view) | ({"title": known[view.id].title} if view.id in known else {})
        for view in latest
    ]


def _run_row(view: RunView) -> dict[str, Any]:
    nodes, error = view.result.nodes, view.result.error or {}
    return {
        "run_id": view.id,
        "conversation": view.conversation,
        "title": view.title,
        "state": view.result.state.value,
        "reason": str(error.get("message", "")),
        "steps": len(nodes),
        "steps_done": sum(node.state is NodeState.COMPLETED for node in nodes),
        "principal": view.run.start.principal.id,
        "created_at": view.run.start.created_at,
        "finished_at": view.run.finished_at,
        "duration_ms": view.result.duration_ms,
    }


def _board_rows(
    board: Pegboard, tools: Sequence[_KnownTool], connectors: Sequence[SourceState]
) -> list[dict[str, Any]]:
    """A row for each source of which the caller may see a tool, or that has none; in order."""
    counts: dict[str, Counter[str]] = {}
    for spec, state in tools:
        counts.setdefault(spec.source, Counter())[state] += 1
    states = {item.name: item for item in (*board.sources, *connectors)}
    return [
        _board_row(name, counts.get(name, Counter()), states.get(name))
        for name in (*states, *(name for name in counts if name not in states))
        if name in counts or not states[name].tools
    ]


def _board_row(name: str, count: Counter[str], source: SourceState | None) -> dict[str, Any]:
    held = 0 if source is None else source.held
    return {
        "source": name,
        "title": "" if source is None else source.title,
        "kind": "" if source is None else source.kind,
        "status": "ok" if source is None else source.status,
        "reason": "" if source is None else source.reason,
        "tools": count.total(),
        "ready": count["ready"],
        "asks": count["asks"],
        "unavailable": count["unavailable"],
        "off": count["off"],
        "held": held,
    }


async def _find_tools(board: Pegboard, principal: Principal) -> list[_KnownTool]:
    """The tools that the caller may know of, each with its state."""
    kit = board.registry.environment
    policy, switches = kit.policy, kit.switches
    found: list[_KnownTool] = []
    for number, tool in enumerate(tuple(board.registry)):
        if number % _AT_ONCE == _AT_ONCE - 1:
            await asyncio.sleep(0)
        spec = tool.spec
        call = decide(principal, spec, Action.CALL, policy=policy, switches=switches)
        if call.verdict is not Verdict.DENY:
            found.append((spec, "asks" if call.verdict is Verdict.ASK else "ready"))
        elif may_know(principal, spec, policy=policy, switches=switches):
            is_off = spec.status is Status.DISABLED or with_switches(spec, switches) is not spec
            found.append((spec, "off" if is_off else "unavailable"))
    return found


async def _sum_day(board: Pegboard, principal: Principal) -> dict[str, Any]:
    """The calls of the last 24 hours: of the tenant for who may read them, else the caller's."""
    until = board.registry.environment.now()
    owners = find_visible_owners(principal, AUDIT_SCOPE)
    assert owners is not None  # noqa: S101 - nobody in particular is asked for
    totals = await board.history.totals(
        TotalsQuery(
            since=until - _DAY,
            until=until,
            principal=owners.principal,
            tenant=owners.tenant,
        )
    )
    return {
        "since": until - _DAY,
        "until": until,
        "calls": totals.calls,
        "failed": totals.failed,
        "p50_ms": totals.p50_ms,
        "p95_ms": totals.p95_ms,
        "hours": [{"calls": calls, "failed": failed} for calls, failed in totals.slots],
    }


def _find_examples(board: Pegboard, tools: Sequence[_KnownTool]) -> list[str]:
    """What one may ask, in the words of tools that are ready: one of each source, readers first."""
    kinds = {item.name: item.kind for item in board.sources}
    ready = [
        spec
        for spec, state in tools
        if state in {"ready", "asks"} and kinds.get(spec.source, spec.source) not in _OWN
    ]
    ready.sort(key=lambda spec: (spec.effect is not Effect.READ, spec.effect is Effect.ADMIN))
    by_source: dict[str, list[str]] = {}
    for spec in ready:
        text = spec.description.partition("\n")[0].partition(". ")[0].rstrip(". ")
        if 0 < len(text) <= _MAX_EXAMPLE:
            by_source.setdefault(spec.source, []).append(text)
    return _take_turns(list(by_source.values()))[:_EXAMPLES]


def _take_turns(lists: Sequence[list[str]]) -> list[str]:
    longest = max(map(len, lists), default=0)
    return list(
        dict.fromkeys(items[at] for at in range(longest) for items in lists if at < len(items))
    )
