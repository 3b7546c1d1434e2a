"""`/settings`: what the server runs with, for its operators."""

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response
from msgspec import to_builtins

from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied
from pegboard.features.permissions import sees_whole_board
from pegboard.runtime import Pegboard
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.models.settings import SettingsAnswer
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.start_report import describe_data

router = APIRouter(tags=["board"])


@router.get("/settings", response_model=SettingsAnswer, responses=refusals())
async def show_settings(request: Request, board: Board, caller: Caller) -> Response:
    """Show what the server runs with and where each value comes from; no value of a secret.

    Where there are accounts, operators alone see it.
    """
    _check_sees_settings(caller)
    settings = board.settings
    return JsonResponse(
        {
            "version": version("pegboard"),
            "board": str(settings.board) if settings.board is not None else "",
            "data": describe_data(settings),
            "problem": board.problem or board.storage_problem,
            "doors": _list_doors(request, board),
            "settings": [to_builtins(item) for item in board.report_settings()],
            "sections": [to_builtins(item) for item in board.list_board_sections()],
        }
    )


def _check_sees_settings(caller: Principal) -> None:
    if not sees_whole_board(caller):
        raise AccessDenied("the settings", "the caller is no operator")


def _list_doors(request: Request, board: Pegboard) -> list[dict[str, Any]]:
    """The ways into the server; one that is closed names the setting that opens it."""
    settings, has_accounts = board.settings, board.identity.has_accounts
    has_token = request.app.state.sessions is not None
    guard = "accounts" if has_accounts else "token" if has_token else "none"
    doors: list[tuple[str, str, bool, str]] = [
        ("rest", "/v1", True, ""),
        ("console", "/ui/", request.app.state.console.find() is not None, ""),
        ("mcp", "/mcp", True, ""),
        ("websocket", "/ws", True, ""),
        ("openai", "/v1/chat/completions", board.has_model, "PEGBOARD_MODEL"),
        ("oidc", "/v1/session/oidc", board.identity.oidc is not None, "PEGBOARD_OIDC_ISSUER"),
        (
            "oauth",
            "/oauth/register",
            settings.oauth_registration,
            "PEGBOARD_OAUTH_REGISTRATION",
        ),
    ]
    return [
        {"name": name, "path": path, "open": is_open, "guard": guard, "setting": setting}
        for name, path, is_open, setting in doors
    ]
