"""Errors in OpenAI's format: https://platform.openai.com/docs/guides/error-codes."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, cast

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from pegboard.errors import (
    InvalidRequest,
    Overloaded,
    PegboardError,
    QuotaExceeded,
    RateLimited,
)
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.problem_details import STATUSES, error_answer, validation_answer

_BY_CODE: Mapping[str, int] = {kind.code: status for kind, status in STATUSES.items()}
_SERVER = 500
_INVALID = 400


class OpenAIError(BaseModel):
    """What went wrong."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIErrorAnswer(BaseModel):
    """The body of a refusal."""

    error: OpenAIError


class OpenAIRoute(JsonRoute):
    """A route whose errors have OpenAI's format."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route handler, with errors translated."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except PegboardError as error:
                problem = error_answer(error)
                param = error.parameter if isinstance(error, InvalidRequest) else ""
                detail = str(problem.body["detail"])
                body = error_body(detail, error.code, problem.status, param=param or None)
                return JsonResponse(body, problem.status, headers=dict(problem.headers))
            except RequestValidationError as error:
                return _answer_invalid(error)
            except HTTPException as error:
                body = error_body(str(error.detail), "request_invalid", error.status_code)
                return JsonResponse(body, error.status_code, headers=dict(error.headers or {}))

        return answer


def openai_refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error `responses` of a route; those of authentication stay problems."""
    known = refusals(400, *statuses)
    return {
        status: spec
        if status in {401, 403}
        else {"description": spec["description"], "model": OpenAIErrorAnswer}
        for status, spec in known.items()
    }


def error_body(message: str, code: str, status: int, *, param: str | None = None) -> dict[str, Any]:
    """The body of an error.

    Args:
        message: For the caller.
        code: The code of our error.
        status: The HTTP status, which gives the type.
        param: Which value of the request is wrong.
    """
    kind = "server_error" if status >= _SERVER else "invalid_request_error"
    if code in {RateLimited.code, Overloaded.code}:
        kind = "rate_limit_error"
    elif code == QuotaExceeded.code:
        kind = "insufficient_quota"  # which clients do not repeat
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def status_of(error: Mapping[str, Any]) -> int:
    """The HTTP status of the error of a run."""
    return _BY_CODE.get(str(error.get("code", "")), _SERVER)


def _answer_invalid(error: RequestValidationError) -> Response:
    problem = validation_answer(error.errors(), body=error.body)
    [first, *_] = cast("list[dict[str, str]]", problem.body["problems"])
    param = first["path"].removeprefix("body").lstrip(".") or None
    message = str(problem.body["detail"])
    return JsonResponse(error_body(message, "request_invalid", _INVALID, param=param), _INVALID)
