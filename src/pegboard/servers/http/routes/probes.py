"""`/healthz` and `/readyz`: probes for process supervisors and load balancers."""

from typing import Any

from fastapi import APIRouter, Request, Response

from pegboard.core.principal import Principal
from pegboard.features.permissions import sees_whole_board
from pegboard.runtime import Pegboard
from pegboard.servers.http.dependencies import Board
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.models.responses import Alive, Readiness
from pegboard.servers.http.openapi import refusals

router = APIRouter(tags=["probes"])


@router.get("/healthz", response_model=Alive, responses=refusals(open_to_all=True))
async def healthz() -> Response:
    """Report that the process responds."""
    return JsonResponse({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses=refusals(503, open_to_all=True))
async def readyz(request: Request, board: Board) -> Response:
    """Report whether the server accepts calls, and which sources fail.

    The server stays ready when a source fails, which affects only that source's tools. It stays
    ready when its database is unavailable too: else all servers that share the database would be
    out, although many calls need none. Only callers who see the whole board are told names and
    reasons.
    """
    principal: Principal | None = request.state.principal
    tells_why = principal is not None and sees_whole_board(principal)
    return JsonResponse(_readiness(board, tells_why=tells_why))


def _readiness(board: Pegboard, *, tells_why: bool) -> dict[str, Any]:
    failing = [state for state in board.sources if state.status != "ok"]
    problem = "\n".join(filter(None, (board.problem, board.storage_problem)))
    status = "degraded" if failing or problem else "ready"
    if not tells_why:
        return {"status": status}
    return {
        "status": status,
        "sources": [
            {"name": state.name, "status": state.status, "reason": state.reason}
            for state in failing
        ],
        "rules": [rule.to_dict() for rule in board.find_unused_rules() if rule.protects],
        "tools": len(board.registry),
        "problem": problem,
    }
