"""The OpenAPI document: the routes and their error responses."""

from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from pegboard.servers.http.models.responses import ProblemDocument
from pegboard.servers.http.problem_details import PROBLEM

_PROBLEM = "Problem"
_REF = "#/components/schemas/{model}"
_SCHEME = {"type": "http", "scheme": "bearer", "description": "An API key, or PEGBOARD_TOKEN."}
_REASONS = {
    400: "The body is not JSON, or the request is contradictory.",
    401: "The token is missing or wrong.",
    403: "The caller may not do this.",
    404: "It does not exist, or it is hidden.",
    405: "The method is not allowed at this path.",
    408: "The body arrives too slowly.",
    409: "Conflict: an approval is needed, or an idempotency key was used. "
    "One that is in progress on another server is retryable; `Retry-After` says when.",
    410: "It has expired.",
    413: "The body is too large.",
    415: "The Content-Type is not JSON.",
    416: "The range begins behind the end.",
    422: "The request, or a tool's input, does not fit its schema; `problems` says where.",
    429: "A limit is reached; retry after `Retry-After` seconds.",
    500: "Internal error; the log has the details under `error_id`.",
    502: "The tool failed.",
    503: "Unavailable; retry after `Retry-After` seconds.",
    504: "The call took too long.",
}


def refusals(*statuses: int, open_to_all: bool = False) -> dict[int | str, dict[str, Any]]:
    """The error `responses` of a route: these statuses, and those of every route."""
    always = (500,) if open_to_all else (401, 403, 422, 500, 503)
    return {
        status: {
            "description": _REASONS[status],
            "content": {PROBLEM: {"schema": {"$ref": _REF.format(model=_PROBLEM)}}},
        }
        for status in sorted({*always, *statuses})
    }


def document(app: FastAPI, *, needs_token: bool) -> dict[str, Any]:
    """The document, built on first use."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            servers=[
                {"url": "/", "description": "The paths of RFC-0003."},
                {"url": "/v1", "description": "The same, with a version."},
            ],
        )
        _finish(made, needs_token=needs_token)
        app.openapi_schema = made
    return app.openapi_schema


def _finish(made: dict[str, Any], *, needs_token: bool) -> None:
    components = made.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    problem = ProblemDocument.model_json_schema(ref_template=_REF)
    schemas.update(problem.pop("$defs", {}))
    schemas[_PROBLEM] = problem
    if needs_token:
        components["securitySchemes"] = {"token": _SCHEME}
    for operations in made["paths"].values():
        for operation in operations.values():
            is_open = "401" not in operation["responses"]
            if not needs_token:
                if operation.get("security") != []:  # a wrong password needs no token either
                    operation["responses"].pop("401", None)
            elif not is_open:
                operation.setdefault("security", [{"token": []}])
    _drop_empty_defaults(made)


def _drop_empty_defaults(node: Any) -> None:
    """Drop defaults of `""`: they only mean that a parameter may be left out."""
    if isinstance(node, dict):
        inner = cast("dict[str, Any]", node)
        if inner.get("default") == "":
            del inner["default"]
        for item in inner.values():
            _drop_empty_defaults(item)
    elif isinstance(node, list):
        for item in cast("list[Any]", node):
            _drop_empty_defaults(item)
