"""`/healthz` and `/readyz`: for whoever looks after the process."""

from typing import Any

from fastapi import APIRouter, Request, Response

from pegboard.runtime import Pegboard
from pegboard.servers.http.dependencies import Board
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.models.responses import Alive, Readiness
from pegboard.servers.http.openapi import refusals

router = APIRouter(tags=["probes"])


@router.get("/healthz", response_model=Alive, responses=refusals(open_to_all=True))
async def healthz() -> Response:
    """Say that the process answers."""
    return JsonResponse({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses=refusals(503, open_to_all=True))
async def readyz(request: Request, board: Board) -> Response:
    """Say whether calls can be taken, and which sources fail.

    A failed source takes its own tools away and nothing else, so the server stays ready; and it
    does while its database is away, which would take away every server that shares it, with what
    needs no database. Why is told to callers of the API alone.
    """
    return JsonResponse(_readiness(board, tells_why=request.state.principal is not None))


def _readiness(board: Pegboard, *, tells_why: bool) -> dict[str, Any]:
    failing: list[dict[str, Any]] = [
        {"name": state.name, "status": state.status}
        | ({"reason": state.reason} if tells_why else {})
        for state in board.sources
        if state.status != "ok"
    ]
    problem = "\n".join(filter(None, (board.problem, board.storage_problem)))
    status = "degraded" if failing or problem else "ready"
    answer: dict[str, Any] = {"status": status, "sources": failing}
    if tells_why:
        answer |= {"tools": len(board.registry), "problem": problem}
    return answer
