"""`application/problem+json` (RFC 9457) for everything that goes wrong."""

import logging
import math
import secrets
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route

from pegboard.core.result import error_to_dict
from pegboard.errors import PegboardError
from pegboard.servers.http.body import JsonResponse
from pegboard.servers.http.statuses import CODES, http_status

PROBLEM = "application/problem+json"
_LOG = logging.getLogger("pegboard.http")
_ASK_AGAIN = 5.0
_KINDS = {"missing": "missing", "extra_forbidden": "unknown"}


class ProblemResponse(JsonResponse):
    """An answer that says what is wrong."""

    media_type = PROBLEM


def problem(
    status: int,
    detail: str,
    *,
    code: str = "",
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> Response:
    """The answer for something that is wrong before a tool is concerned."""
    code = code or CODES.get(status, "request_invalid" if status < 500 else "internal")
    body = {"retryable": False, **members}
    return ProblemResponse(
        {**_head(status, code), "detail": detail, **body}, status, headers=dict(headers or {})
    )


def problem_of(error: PegboardError, **members: Any) -> Response:
    """The answer for an error of ours; what is only for the operator is not in it."""
    status = http_status(error)
    told = error_to_dict(error)
    body = {**_head(status, error.code), "detail": told.pop("message"), **told, **members}
    headers: dict[str, str] = {}
    if status in {429, 503} and error.retryable:
        wait = error.retry_after if error.retry_after is not None else _ASK_AGAIN
        headers["Retry-After"] = str(max(1, math.ceil(wait)))
    return ProblemResponse(body, status, headers=headers)


def internal_problem(error: Exception, *, during: str) -> Response:
    """A 500 that shows an error id alone; the operator finds the rest in the log."""
    error_id = f"e_{secrets.token_hex(6)}"
    _LOG.error("%s: error id %s", during, error_id, exc_info=error)
    return problem(500, "Something went wrong in the server.", error_id=error_id)


async def answer_error(_request: Request, error: Exception) -> Response:
    """For errors of ours that a route raised."""
    assert isinstance(error, PegboardError)  # noqa: S101 - it is registered for nothing else
    return problem_of(error)


async def answer_framework(request: Request, error: Exception) -> Response:
    """For what the framework refuses: no such path, no such method, a body too large."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for nothing else
    detail, headers = error.detail, dict(error.headers or {})
    if detail == HTTPStatus.NOT_FOUND.phrase:
        detail = "There is nothing at this path."
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"{request.method} is not possible at this path."
        headers["Allow"] = ", ".join(_allowed(request)) or headers.get("Allow", "")
    return problem(error.status_code, detail, headers=headers)


async def answer_invalid(_request: Request, error: Exception) -> Response:
    """For a request that does not fit the door's own schema; what it held is not repeated."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - it is registered for nothing else
    found = [
        {
            "path": _dotted(item["loc"]),
            "message": str(item["msg"]).removeprefix("Value error, "),
            "kind": _KINDS.get(str(item["type"]), "value"),
        }
        for item in error.errors()
    ]
    lines = "\n".join(f"- {item['path']}: {item['message']}" for item in found)
    return problem(422, f"The request does not fit:\n{lines}", problems=found)


def _allowed(request: Request) -> list[str]:
    """The methods of all routes at this path; those that name it hide those that take any name."""
    path = request.url.path.removeprefix("/v1") or "/"
    routes: list[Route] = getattr(request.app.state, "routes", [])
    at_path = [route for route in routes if route.path_regex.match(path)]
    exact = [route for route in at_path if route.path == path]
    return sorted({method for route in exact or at_path for method in route.methods or ()})


def _head(status: int, code: str) -> dict[str, Any]:
    title = code.replace("_", " ").capitalize()
    return {
        "type": f"urn:pegboard:error:{code}",
        "title": title,
        "status": status,
        "code": code,
    }


def _dotted(place: Iterable[str | int]) -> str:
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text
