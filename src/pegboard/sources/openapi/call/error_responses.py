"""Translates error responses of the API into Pegboard's errors, in the API's words where safe."""

import json
import re
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from pegboard.core.oauth_challenge import find_missing_scopes
from pegboard.core.ports.http import HttpResponse
from pegboard.core.text.truncate import truncate
from pegboard.errors import InvalidRequest, PegboardError, ToolFailed, Unavailable
from pegboard.sources.openapi.call.responses import body_text, is_json
from pegboard.sources.openapi.document.lenient_access import mapping, sequence

_CALLER_STATUSES = frozenset({400, 404, 409, 410, 411, 412, 413, 414, 416, 422, 428})
_RETRYABLE_STATUSES = frozenset({408, 425, 429})
_NOT_PROCESSED_STATUSES = frozenset({425, 429})
_CREDENTIAL_STATUSES = frozenset({401, 403})
_MESSAGE_KEYS = (
    "title",
    "detail",
    "message",
    "error",
    "error_description",
    "description",
    "reason",
)
_MAX_MESSAGE = 400
_MAX_WAIT_SECONDS = 86_400.0
_MAX_DETAILS = 5
_DETAIL_BYTES = 4_000
_LINE = re.compile(r"[\s\x00-\x1f\x7f]+")
MASK = "[redacted]"


class ApiErrorDetail(Exception):  # only the cause of our error, read by the operator
    """The response of the API, as detail for the operator.

    Attributes:
        status: Its status.
        missing_scopes: Those that the token of the request has lacked.
    """

    status: int = 0
    missing_scopes: tuple[str, ...] = ()


def is_unauthorized(error: PegboardError) -> bool:
    """Whether the API has refused the credential of a request (401)."""
    cause = error.__cause__
    return isinstance(cause, ApiErrorDetail) and cause.status == HTTPStatus.UNAUTHORIZED


def missing_scopes_of(error: PegboardError) -> tuple[str, ...]:
    """The scopes for which the API has refused a request (403); empty for another error."""
    cause = error.__cause__
    return cause.missing_scopes if isinstance(cause, ApiErrorDetail) else ()


def is_error(status: int) -> bool:
    """Whether a status means that the request failed."""
    return not 200 <= status < 300 and status != HTTPStatus.NOT_MODIFIED


def to_error(
    response: HttpResponse, *, api: str, credential: str, now: float, secrets: Sequence[str] = ()
) -> PegboardError:
    """Translate an error response; the API's own words become its cause.

    Args:
        response: The response.
        api: The name of the API.
        credential: The name of the credential that was sent; empty for none.
        now: Unix seconds, for a `Retry-After` that gives a date.
        secrets: Values to mask, in case the API repeats them.
    """
    status = response.status
    # a failing server may reveal internals: stack traces, queries, addresses
    detail = "" if status >= 500 else mask_secrets(error_text(response), secrets)
    message = f"{api} answered {status}{_phrase(status)}" + (f": {detail}" if detail else "")
    message += "" if message.endswith((".", "…", "!", "?")) else "."
    if status >= 500:
        message += " The fault is the API's; its response is stored for the operator."
    if status in _CALLER_STATUSES:
        error: PegboardError = InvalidRequest(message)
    elif status in _CREDENTIAL_STATUSES:
        error = ToolFailed(f"{message} {_credential_advice(status, credential)}")
        error.is_about_caller = True
    elif status in _RETRYABLE_STATUSES or (status >= 500 and status != HTTPStatus.NOT_IMPLEMENTED):
        wait = response.retry_after(now)
        error = Unavailable(
            message,
            retry_after=None if wait is None else min(wait, _MAX_WAIT_SECONDS),
            nothing_done=status in _NOT_PROCESSED_STATUSES,
        )
    elif 300 <= status < 400:
        error = ToolFailed(f"{api} redirects the request ({status}) without a location.")
    else:
        error = ToolFailed(message)
    body = response.content[:_DETAIL_BYTES].decode("utf-8", "replace")
    cause = ApiErrorDetail(f"{status}: {mask_secrets(body, secrets)}")
    cause.status = status
    if status == HTTPStatus.FORBIDDEN:
        cause.missing_scopes = find_missing_scopes(response.headers.get("www-authenticate", ""))
    error.__cause__ = cause
    return error


def mask_secrets(text: str, secrets: Sequence[str]) -> str:
    """Mask these values in a text, also in percent-encoded form."""
    for secret in secrets:
        for form in (secret, quote(secret, safe="")):
            text = text.replace(form, MASK)
    return text


def error_text(response: HttpResponse) -> str:
    """Return the API's own error message in one line; empty when there is none."""
    if is_json(response.media_type):
        try:
            value = json.loads(response.content)
        except (ValueError, RecursionError):
            return ""
        return _one_line(". ".join(dict.fromkeys(_messages(value))))
    if response.media_type == "text/plain":
        return _one_line(body_text(response) or "")
    return ""


def _messages(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.rstrip(".")
    for key in _MESSAGE_KEYS:
        inner = mapping(value).get(key)
        if isinstance(inner, str):
            yield inner.rstrip(".")
        elif key in ("error", "detail"):
            yield from _details(inner)
    yield from _details(mapping(value).get("errors"))


def _details(value: Any) -> Iterator[str]:
    """The parts of a structured error: texts, or objects that name a field."""
    if isinstance(value, dict):
        yield from (text.rstrip(".") for text in _texts(value))
        return
    for item in sequence(value)[:_MAX_DETAILS]:
        if isinstance(item, str):
            yield item.rstrip(".")
        else:
            yield " ".join(_texts(item))


def _texts(value: Any) -> Iterator[str]:
    fields = mapping(value)
    place = fields.get("loc") or fields.get("field") or fields.get("pointer")
    if sequence(place):
        place = ".".join(str(part) for part in sequence(place))
    if isinstance(place, str) and place:
        yield f"{place}:"
    for key in ("message", "msg", "detail", "title", "code"):
        if isinstance(fields.get(key), str):
            yield fields[key]
            return


def _one_line(text: str) -> str:
    line = _LINE.sub(" ", text).strip()
    return truncate(line.encode("utf-8", "replace").decode(), _MAX_MESSAGE)


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def _credential_advice(status: int, credential: str) -> str:
    if not credential:
        return "No credential was sent: set auth in the source's config."
    if status == HTTPStatus.UNAUTHORIZED:
        return f"It does not accept the credential '{credential}'."
    return f"The credential '{credential}' may not do this."
