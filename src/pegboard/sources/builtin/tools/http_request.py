"""`http_request`: any HTTP request to an allowed address."""

import json as json_module
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import Field

from pegboard.core.context import ToolContext
from pegboard.core.ports.http import HttpRequest, HttpResponse
from pegboard.core.ports.services import Services
from pegboard.core.result import Artifact, ToolResult
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.response_text import json_of, text_of
from pegboard.sources.builtin.service_access import send_request
from pegboard.sources.builtin.service_access import why_no_http as availability
from pegboard.tools import tool

__all__ = ["availability", "http_request"]

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_MAX_BYTES = 2_000_000
_HIDDEN = frozenset({"set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate"})


@tool(effect="write", category="web", trusted=False, timeout=65, tags=("http", "rest", "api"))
async def http_request(
    url: Annotated[str, Field(min_length=1, max_length=8000)],
    ctx: ToolContext[Services],
    *,
    method: Method = "GET",
    headers: Annotated[dict[str, str], Field(max_length=50)] | None = None,
    query: dict[str, str | int | float | bool | list[str]] | None = None,
    json: Any = None,
    body: Annotated[str, Field(max_length=1_000_000)] | None = None,
    timeout_seconds: Annotated[float, Field(gt=0, le=60)] = 30,
) -> ToolResult:
    """Send an HTTP request and return the status, headers and body of the answer.

    JSON answers come as values, text as text, anything else as an artifact. A status of 400 and
    more is an answer like any other: look at `status`. Redirects are followed. Addresses inside
    private networks are refused unless the operator allows them.

    Args:
        url: Where to, with http:// or https://.
        ctx: Has the HTTP client.
        method: What to do there.
        headers: Header names and values, such as {"Authorization": "Bearer ..."}.
        query: Parameters to add to the URL; a list repeats one.
        json: Any JSON value to send as the body.
        body: Text to send as the body, instead of `json`; say what it is in a Content-Type header.
        timeout_seconds: How long to wait for the whole answer.
    """
    response = await send_request(
        ctx,
        HttpRequest(
            method=method,
            url=_with_query(url, query),
            headers=_headers(headers or {}, has_json=json is not None),
            content=_content(json, body),
            timeout=timeout_seconds,
            max_bytes=_MAX_BYTES,
        ),
    )
    return _result(response)


def _with_query(url: str, query: Mapping[str, Any] | None) -> str:
    if not query:
        return url
    plain = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in query.items()
    }
    address, hash_sign, fragment = url.partition("#")
    glue = "&" if "?" in address else "?"
    return f"{address}{glue}{urlencode(plain, doseq=True)}{hash_sign}{fragment}"


def _headers(headers: Mapping[str, str], *, has_json: bool) -> dict[str, str]:
    given = {name.lower(): value for name, value in headers.items()}
    if has_json:
        given.setdefault("content-type", "application/json")
    return given


def _content(json: Any, body: str | None) -> bytes | None:
    if json is not None and body is not None:
        raise InvalidRequest("Give either 'json' or 'body', not both.")
    if json is not None:
        return json_module.dumps(json, ensure_ascii=False, separators=(",", ":")).encode()
    return None if body is None else body.encode()


def _result(response: HttpResponse) -> ToolResult:
    answer: dict[str, Any] = {
        "status": response.status,
        "url": response.url,
        "headers": {name: value for name, value in response.headers.items() if name not in _HIDDEN},
        "truncated": response.truncated,
    }
    text = text_of(response)
    artifacts: tuple[Artifact, ...] = ()
    if text is None:
        artifacts = (_artifact(response),)
        answer["body"] = f"{response.media_type}, {len(response.content)} bytes, as an artifact"
    else:
        is_json, value = json_of(response, text)
        answer["body"] = value if is_json else text
    return ToolResult(
        content=json_module.dumps(answer, ensure_ascii=False),
        structured=answer,
        artifacts=artifacts,
    )


def _artifact(response: HttpResponse) -> Artifact:
    name = response.url.partition("?")[0].rpartition("/")[2] or "download"
    return Artifact(
        name=name,
        media_type=response.media_type or "application/octet-stream",
        size=len(response.content),
        data=response.content,
    )
