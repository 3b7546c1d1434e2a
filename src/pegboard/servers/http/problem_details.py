"""Errors as `application/problem+json` (RFC 9457)."""

import logging
import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, cast

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route

from pegboard import errors
from pegboard.core.result import error_to_dict
from pegboard.core.tool import JsonSchema
from pegboard.errors import PegboardError
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.validation_messages import schema_of, validation_message

PROBLEM = "application/problem+json"
_LOG = logging.getLogger("pegboard.http")
_ASK_AGAIN = 5.0
MAX_FAULTS = 100
_MAX_PATH_LENGTH = 200
"""The path of an unknown field repeats what the caller sent."""
STATUSES: Mapping[type[errors.PegboardError], int] = MappingProxyType(
    {
        errors.PegboardError: 500,
        errors.ConfigError: 500,
        errors.CallerError: 400,
        errors.ToolSignatureError: 500,
        errors.ToolArgumentError: 422,
        errors.ToolNotFound: 404,
        errors.DuplicateTool: 409,
        errors.SyncUse: 500,
        errors.AccessDenied: 403,
        errors.ApprovalRequired: 409,
        errors.CredentialMissing: 409,
        errors.CredentialNotFound: 404,
        errors.DocumentNotFound: 404,
        errors.DocumentUnreadable: 422,
        errors.ApprovalExpired: 410,
        errors.ApprovalDecided: 409,
        errors.AlreadyAnswered: 409,
        errors.ApprovalNotFound: 404,
        errors.IdempotencyConflict: 409,
        errors.HandleNotFound: 404,
        errors.DependencyCycle: 409,
        errors.CannotPlan: 404,
        errors.GraphInvalid: 422,
        errors.RunNotFound: 404,
        errors.PlanNotFound: 404,
        errors.ConversationNotFound: 404,
        errors.MessageNotQueued: 409,
        errors.AgentNotFound: 404,
        errors.LimitReached: 422,
        errors.QuotaExceeded: 429,
        errors.ModelNotConfigured: 409,
        errors.DependencyNotFound: 404,
        errors.VersionNotFound: 404,
        errors.EntryNotFound: 404,
        errors.DefinitionNotHeld: 404,
        errors.DefinitionChanged: 409,
        errors.SwitchNotFound: 404,
        errors.AccountNotFound: 404,
        errors.ResourceNotFound: 404,
        errors.FileMissing: 404,
        errors.UploadConflict: 409,
        errors.StorageQuotaExceeded: 413,
        errors.SignInRefused: 401,
        errors.InvalidRequest: 400,
        errors.ContextTooLong: 422,
        errors.ToolFailed: 502,
        errors.ElicitationUnavailable: 502,
        errors.ToolOutputError: 502,
        errors.Unavailable: 503,
        errors.ToolTimeout: 504,
        errors.RateLimited: 429,
        errors.BreakerOpen: 503,
        errors.Overloaded: 503,
        errors.StoreUnavailable: 503,
        errors.AuditUnavailable: 503,
        errors.HostUnavailable: 503,
        errors.IdempotencyInProgress: 409,
        errors.SourceUnavailable: 503,
        errors.MCPConnectionError: 503,
    }
)
"""HTTP status of each error class.

A tool that fails is a 502: the request was fine, and what stands behind the server answered with a
failure. A call that needs an approval is a 409 and not a 202, because nothing has been accepted:
the same request may pass once the approval is there.
"""

CODES: Mapping[int, str] = MappingProxyType(
    {
        400: errors.InvalidRequest.code,
        401: "unauthenticated",
        403: errors.AccessDenied.code,
        404: "not_found",
        405: "method_not_allowed",
        408: "request_timeout",
        413: "request_too_large",
        415: "media_type_unsupported",
        416: "range_not_satisfiable",
        421: "host_not_allowed",
        422: errors.InvalidRequest.code,
        500: "internal",
    }
)
"""Error codes of what goes wrong before a tool is involved, by status."""

_KINDS = {"missing": "missing", "extra_forbidden": "unknown"}


class ProblemResponse(JsonResponse):
    """A `application/problem+json` response."""

    media_type = PROBLEM


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemAnswer:
    """A problem, independent of the protocol that reports it.

    Attributes:
        body: The problem object.
        headers: Further headers of an HTTP response.
    """

    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def response(self) -> Response:
        """The HTTP response."""
        return ProblemResponse(self.body, self.status, headers=dict(self.headers))


def http_status(error: errors.PegboardError) -> int:
    """The status of an error; a class of a third party has the status of its nearest parent."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def problem_answer(
    status: int,
    detail: str,
    *,
    code: str = "",
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> ProblemAnswer:
    """The problem for an error that occurs before a tool is involved."""
    code = code or CODES.get(status, "request_invalid" if status < 500 else "internal")
    body = {"retryable": False, **members}
    return ProblemAnswer(
        status=status,
        body={**_head(status, code), "detail": detail, **body},
        headers=headers or {},
    )


def error_answer(error: PegboardError, **members: Any) -> ProblemAnswer:
    """The problem for a `PegboardError`; details for the operator are left out."""
    status = http_status(error)
    fields = error_to_dict(error)
    body = {**_head(status, error.code), "detail": fields.pop("message"), **fields, **members}
    headers: dict[str, str] = {}
    if status in {409, 429, 503} and (error.retryable or error.retry_after is not None):
        wait = error.retry_after if error.retry_after is not None else _ASK_AGAIN
        headers["Retry-After"] = str(max(1, math.ceil(wait)))
    return ProblemAnswer(status=status, body=body, headers=headers)


def internal_error_answer(error: Exception, *, during: str) -> ProblemAnswer:
    """The problem for an unexpected exception: it shows an error id, the log has the details."""
    error_id = f"e_{secrets.token_hex(6)}"
    _LOG.error("http: %s failed: error id %s", during, error_id, exc_info=error)
    return problem_answer(500, "Something went wrong in the server.", error_id=error_id)


def validation_answer(
    faults: Sequence[Any], *, body: Any = None, schema: JsonSchema | None = None
) -> ProblemAnswer:
    """The problem for a request that does not fit its schema; values are not repeated.

    Args:
        faults: Errors of pydantic.
        body: The request body, if known: paths name only what it contains.
        schema: Schema of the request; None if unknown.
    """
    found: list[dict[str, str]] = []
    for item in faults[:MAX_FAULTS]:
        place = _place(item["loc"], body, is_missing=item["type"] == "missing")
        found.append(
            {
                "path": _format_path(place),
                "message": validation_message(item, place, schema or {}),
                "kind": _KINDS.get(str(item["type"]), "value"),
            }
        )
    lines = "\n".join(f"- {item['path']}: {item['message']}" for item in found)
    return problem_answer(422, f"The request does not fit:\n{lines}", problems=found)


def problem_response(
    status: int,
    detail: str,
    *,
    code: str = "",
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> Response:
    """`problem_answer` as an HTTP response."""
    return problem_answer(status, detail, code=code, headers=headers, **members).response()


def error_response(error: PegboardError, **members: Any) -> Response:
    """`error_answer` as an HTTP response."""
    return error_answer(error, **members).response()


def internal_error_response(error: Exception, *, during: str) -> Response:
    """`internal_error_answer` as an HTTP response."""
    return internal_error_answer(error, during=during).response()


async def answer_error(_request: Request, error: Exception) -> Response:
    """Exception handler for a `PegboardError` that a route raised."""
    assert isinstance(error, PegboardError)  # noqa: S101 - it is registered for nothing else
    return error_response(error)


async def answer_framework(request: Request, error: Exception) -> Response:
    """Exception handler for what the framework refuses: an unknown path, a method, a large body."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for nothing else
    detail, headers = error.detail, dict(error.headers or {})
    if detail == HTTPStatus.NOT_FOUND.phrase:
        detail = "There is nothing at this path."
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"{request.method} is not allowed at this path."
        headers["Allow"] = ", ".join(_methods_at(request)) or headers.get("Allow", "")
    return problem_response(error.status_code, detail, headers=headers)


async def answer_invalid(request: Request, error: Exception) -> Response:
    """Exception handler for a request that does not fit its schema."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - it is registered for nothing else
    faults, schema = error.errors(), schema_of(request)
    return validation_answer(faults, body=error.body, schema=schema).response()


def _methods_at(request: Request) -> list[str]:
    """The methods of all routes at this path; literal paths take precedence over parameters."""
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


def _place(loc: Sequence[str | int], body: Any, *, is_missing: bool) -> Sequence[str | int]:
    """Where a fault is in the body as it was sent.

    A fault's own place has more: which of several forms was tried, and which function found it.
    """
    if body is None or loc[:1] != ("body",):
        return loc
    kept: list[str | int] = ["body"]
    given: Any = body
    steps, last = loc[1:], len(loc) - 2
    for index, step in enumerate(steps):
        if not _stands(step, given, may_miss=is_missing and index == last):
            continue
        inner: Any = given[step] if _stands(step, given) else None
        if index < last:
            following, may_miss = steps[index + 1], is_missing and index + 1 == last
            is_form = not _stands(following, inner, may_miss=may_miss) and _stands(
                following, given, may_miss=may_miss
            )
            if is_form:  # it is called as a field is
                continue
        kept.append(step)
        given = inner
    return kept


def _stands(step: str | int, given: Any, *, may_miss: bool = False) -> bool:
    if isinstance(given, dict):
        return step in given or may_miss
    return (
        isinstance(given, list) and isinstance(step, int) and step < len(cast("list[Any]", given))
    )


def _format_path(place: Iterable[str | int]) -> str:
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text if len(text) <= _MAX_PATH_LENGTH else f"{text[:_MAX_PATH_LENGTH]}…"
