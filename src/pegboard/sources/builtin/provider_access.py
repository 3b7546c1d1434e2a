"""Requests to the services that the operator has configured, and what their answers mean."""

import asyncio
import json
import re
from dataclasses import dataclass, replace
from typing import Any, cast
from urllib.parse import urlsplit

from pegboard.core.context import ToolContext
from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.core.ports.services import Services
from pegboard.errors import (
    InvalidRequest,
    RateLimited,
    SourceUnavailable,
    ToolFailed,
    Unavailable,
)
from pegboard.sources.builtin.service_access import limit_time, services_of, why_no_http

_MAX_REASON = 300
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\s]+")
_LARGE = 200_000
_LATER = frozenset({408, 425, 500, 502, 503, 504})
_NOT_SENT = frozenset({400, 413, 422})
_LEFT_OPEN = " Whether it took effect is unknown: check before you repeat it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """The settings behind a service, to name them where they are wrong.

    Attributes:
        url_setting: The setting with the address.
        key_setting: The setting with the key.
        is_quoted: Whether a refusal shows what the service says, which may repeat its address.
        is_repeatable: Whether a request that was answered by nobody may be sent again.
    """

    url_setting: str
    key_setting: str
    is_quoted: bool = True
    is_repeatable: bool = False


def why_no_client(services: Services) -> str:
    """Return why the services cannot be reached; empty if they can."""
    return "" if services.providers.http is not None else why_no_http(Services())


async def ask_provider(
    ctx: ToolContext[Any], request: HttpRequest, settings: ProviderSettings
) -> HttpResponse:
    """Send a request to a configured service, and return its successful response.

    Redirects are not followed, because they would take the key elsewhere.

    Raises:
        InvalidRequest: The service refuses what was asked for, and says why.
        RateLimited: It allows no more requests now.
        SourceUnavailable: A setting is wrong; names it.
        ToolFailed: It answers with more than is read, or with an unknown status.
        Unavailable: It cannot be reached, or cannot answer now.
    """
    services = services_of(ctx)
    response = await _send(client_of(services), ctx, request, settings)
    _check(response, settings, retry_after=response.retry_after(services.clock.time()))
    if response.truncated:
        raise ToolFailed(f"{_host(response)} answered with more than {request.max_bytes} bytes.")
    return response


def client_of(services: Services) -> HttpClient:
    """Return the client for configured services.

    Raises:
        SourceUnavailable: There is none.
    """
    http = services.providers.http
    if http is None:
        raise SourceUnavailable(
            f"This tool is unavailable: {why_no_http(Services())}.",
            nothing_done=True,
            permanent=True,
        )
    return http


async def read_object(response: HttpResponse) -> dict[str, Any]:
    """Return the JSON object of a response; a large one is read in a thread.

    Raises:
        ToolFailed: The body is no JSON object.
    """
    large = len(response.content) > _LARGE
    try:
        value: Any = (
            await asyncio.to_thread(json.loads, response.content)
            if large
            else json.loads(response.content)
        )
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ToolFailed(f"{_host(response)} did not answer with a JSON object.")
    return cast("dict[str, Any]", value)


def clean_line(text: object, *, most: int) -> str:
    """Return foreign text as one line without control characters; empty if it is no text."""
    if not isinstance(text, str):
        return ""
    line = _CONTROL.sub(" ", text[: most * 4]).strip()
    return line if len(line) <= most else f"{line[: most - 1]}…"


async def _send(
    http: HttpClient, ctx: ToolContext[Any], request: HttpRequest, settings: ProviderSettings
) -> HttpResponse:
    try:
        return await http.send(
            limit_time(replace(request, follow_redirects=False), ctx.remaining())
        )
    except InvalidRequest as error:  # the caller has not chosen the address
        raise SourceUnavailable(
            f"{error.message} The address is that of {settings.url_setting}.",
            nothing_done=True,
            permanent=True,
        ) from (error.__cause__ or error)
    except Unavailable as error:
        is_open = not (error.nothing_done or settings.is_repeatable)
        raise Unavailable(
            f"{error.message}{_LEFT_OPEN if is_open else ''}",
            retry_after=error.retry_after,
            nothing_done=error.nothing_done,
            permanent=is_open,
        ) from (error.__cause__ or error)


def _check(
    response: HttpResponse, settings: ProviderSettings, *, retry_after: float | None
) -> None:
    status, host = response.status, _host(response)
    if 200 <= status < 300:
        return
    if status in {401, 403}:
        raise SourceUnavailable(
            f"{host} refuses the request ({status}): the operator must check "
            f"{settings.key_setting}.",
            nothing_done=True,
            permanent=True,
        )
    if 300 <= status < 400 or status in {404, 405}:
        problem = "redirects to another address" if status < 400 else f"answered {status}"
        raise SourceUnavailable(
            f"{host} {problem}: the operator must check {settings.url_setting}.",
            nothing_done=True,
            permanent=True,
        )
    if status == 429:
        raise RateLimited(
            f"{host} allows no more requests now.", retry_after=retry_after, nothing_done=True
        )
    if status in _LATER:
        is_open = not settings.is_repeatable and status != 503
        raise Unavailable(
            f"{host} answered {status}.{_LEFT_OPEN if is_open else ''}",
            retry_after=retry_after,
            permanent=is_open,
        )
    reason = _reason(response) if settings.is_quoted else "."
    if status in _NOT_SENT:
        raise InvalidRequest(f"{host} refuses the request{reason}")
    raise ToolFailed(f"{host} answered {status}{reason}")


def _reason(response: HttpResponse) -> str:
    """The message of an error, where it has one in the usual places."""
    try:
        value: Any = json.loads(response.content[:_LARGE])
    except (ValueError, RecursionError):
        return "."
    for key in ("error", "message", "detail"):
        found: Any = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
        if isinstance(found, dict):
            found = cast("dict[str, Any]", found).get("message")
        if line := clean_line(found, most=_MAX_REASON):
            return f": {line}"
    return "."


def _host(response: HttpResponse) -> str:
    return urlsplit(response.url).netloc
