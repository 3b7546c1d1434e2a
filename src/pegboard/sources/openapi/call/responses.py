"""Turns a successful response into a result: JSON as a value, text as text, the rest as a file."""

import mimetypes
import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from msgspec import structs

from pegboard.core.ports.http import HttpResponse
from pegboard.core.result import Artifact, ToolResult
from pegboard.errors import ToolFailed
from pegboard.schemas import strict_json
from pegboard.tools.charset import decode_text
from pegboard.tools.results import wrap

_TEXT = re.compile(
    r"text/.*|application/(?:.*\+)?xml|application/(?:javascript|x-www-form-urlencoded|x-ndjson"
    r"|yaml|x-yaml|toml|graphql|sql|rtf)|image/svg\+xml|message/.*"
)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_FILE_NAME = re.compile(r"filename\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^;\s]+))", re.IGNORECASE)
_ENCODED_NAME = re.compile(r"filename\*\s*=\s*([\w-]*)'[^']*'([^;\s]+)", re.IGNORECASE)
_UNFIT = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\ud800-\udfff]")
_HIDDEN_HEADERS = frozenset(
    {"set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authorization"}
)
_MAX_NAME = 120
_NOTHING: Any = object()


def to_result(
    response: HttpResponse, *, method: str, action: str, projection: str = ""
) -> ToolResult:
    """Return the result of a successful response.

    Args:
        response: A response without an error status.
        method: The method of the request, in lower case.
        action: The file name to use where the response has none.
        projection: JMESPath expression applied to a JSON response; empty for all of it.

    Raises:
        ToolFailed: The projection cannot be applied.
    """
    if method == "head":
        return _head_result(response)
    if not response.content:
        return ToolResult(content=f"Done. The API answered {response.status} without content.")
    response = _guess_media_type(response)
    if is_json(response.media_type):
        return _json_result(response, projection)
    words = body_text(response)
    if words is None:
        return _file_result(response, action)
    return ToolResult(content=words + _cut_note(response))


def is_json(media_type: str) -> bool:
    """Whether a content type is JSON."""
    return media_type.endswith(("/json", "+json"))


def body_text(response: HttpResponse) -> str | None:
    """Return the body as text by its declared charset, else UTF-8; None if it is not text."""
    media_type = response.media_type
    if not is_json(media_type) and not _TEXT.fullmatch(media_type):
        return None
    found = _CHARSET.search(response.headers.get("content-type", ""))
    return decode_text(response.content, found[1] if found else "")


def with_note(result: ToolResult, note: str) -> ToolResult:
    """Return the result with a sentence appended to its text."""
    return structs.replace(result, content=f"{result.text}\n{note}") if note else result


def _guess_media_type(response: HttpResponse) -> HttpResponse:
    """Set the content type of a response that has none: JSON, text, or a file."""
    if response.media_type:
        return response
    try:
        words = response.content.decode()
    except UnicodeDecodeError:
        return response
    kind = "" if "\0" in words else "text/plain"
    if words.lstrip()[:1] in ("{", "[") and strict_json.is_json(words):
        kind = "application/json"
    return replace(response, headers={**response.headers, "content-type": kind})


def _json_result(response: HttpResponse, projection: str) -> ToolResult:
    words = body_text(response) or ""
    value: Any = _NOTHING
    if not response.truncated:
        try:
            value = strict_json.decode(words)
        except ValueError:
            value = _NOTHING
    if value is not _NOTHING:
        return wrap(_project(value, projection) if projection else value)
    if projection:
        raise ToolFailed(
            f"The API answered {response.status}, but its response is not complete JSON, so the "
            "configured projection cannot be applied."
        )
    if response.truncated:
        return ToolResult(content=words + _cut_note(response))
    return ToolResult(content=f"{words}\n[The response is not the JSON that it declares.]")


def _project(value: Any, projection: str) -> Any:
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        return jmespath.search(projection, value)
    except (JMESPathError, ValueError, TypeError, RecursionError) as error:
        # the whole response is no substitute: the projection may be there to remove something
        raise ToolFailed(
            "The API accepted the request, but its response does not fit the configured projection."
        ) from error


def _head_result(response: HttpResponse) -> ToolResult:
    headers = {
        name: value for name, value in response.headers.items() if name not in _HIDDEN_HEADERS
    }
    return wrap({"status": response.status, "headers": headers})


def _file_result(response: HttpResponse, action: str) -> ToolResult:
    media_type = response.media_type or "application/octet-stream"
    name = file_name(response.headers.get("content-disposition", ""))
    if not name:
        name = f"{action[:_MAX_NAME]}{mimetypes.guess_extension(media_type) or '.bin'}"
    artifact = Artifact(
        name=name, media_type=media_type, size=len(response.content), data=response.content
    )
    return with_note(wrap(artifact), _cut_note(response).strip())


def file_name(disposition: str) -> str:
    """Return the file name of a `Content-Disposition` without folders; empty without one."""
    encoded, plain = _ENCODED_NAME.search(disposition), _FILE_NAME.search(disposition)
    if encoded:
        try:
            name = unquote(encoded[2], encoding=encoded[1] or "utf-8", errors="replace")
        except LookupError:
            name = ""
    elif plain:
        name = re.sub(r"\\(.)", r"\1", plain[1]) if plain[1] is not None else plain[2]
    else:
        return ""
    name = _UNFIT.sub("", name.replace("\\", "/").rpartition("/")[2]).strip(" .")
    return name[-_MAX_NAME:]


def _cut_note(response: HttpResponse) -> str:
    if not response.truncated:
        return ""
    return f"\n[The response is longer; it was cut after {len(response.content):,} bytes.]"
