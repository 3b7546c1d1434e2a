"""`/healthz` and `/readyz`: probes for process supervisors and load balancers."""

from collections import Counter
from typing import Any

from fastapi import APIRouter, Request, Response

from pegboard.core.principal import Principal
from pegboard.features.permissions import sees_whole_board
from pegboard.runtime import Pegboard
from pegboard.runtime.sources.state import SourceState
from pegboard.servers.http.dependencies import Board
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.models.responses import Alive, Readiness
from pegboard.servers.http.openapi import refusals

router = APIRouter(tags=["probes"])

_STRANGER = Principal(id="stranger", user="stranger")
"""An account that owns nothing and belongs nowhere; without an account it would see everything."""


@router.get("/healthz", response_model=Alive, responses=refusals(open_to_all=True))
async def healthz() -> Response:
    """Report that the process responds."""
    return JsonResponse({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses=refusals(503, open_to_all=True))
async def readyz(request: Request, board: Board) -> Response:
    """Report whether the server accepts calls, and which sources fail.

    The server stays ready when a source fails, which affects only that source's tools. It stays
    ready when its database is unavailable too: else all servers that share the database would be
    out, although many calls need none. Everybody is told how many of the sources for everybody are
    in which state; names and reasons are for callers who may see the source.
    """
    return JsonResponse(_readiness(board, request.state.principal))


def _readiness(board: Pegboard, principal: Principal | None) -> dict[str, Any]:
    failing = [state for state in board.sources if state.status != "ok"]
    problem = "\n".join(filter(None, (board.problem, board.storage_problem)))
    status = "degraded" if failing or problem else "ready"
    counts = Counter(state.status for state in (*board.sources, *_list_global(board)))
    told: dict[str, Any] = {"status": status, "counts": counts}
    if principal is None:
        return told
    if not sees_whole_board(principal):
        known = {tool.spec.source for tool in board.registry.visible(principal)}
        return told | {"sources": [_view(state) for state in failing if state.name in known]}
    return told | {
        "sources": [_view(state) for state in failing],
        "rules": [rule.to_dict() for rule in board.find_unused_rules() if rule.protects],
        "tools": len(board.registry),
        "problem": problem,
    }


def _list_global(board: Pegboard) -> list[SourceState]:
    """The connectors that an operator has made for everybody."""
    return board.list_connectors(principal=_STRANGER)


def _view(state: SourceState) -> dict[str, str]:
    return {"name": state.name, "status": state.status, "reason": state.reason}
