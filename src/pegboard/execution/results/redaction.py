"""Remove known secrets from results."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import quote

from msgspec import structs
from pydantic_core import to_json

from pegboard.core.result import Artifact, Part, ResourcePart, TextPart, ToolResult

MASK = "[redacted]"
_MIN_SECRET = 4
_TEXTUAL = ("json", "xml", "yaml", "csv", "javascript", "urlencoded")


def make_redactor(secrets: tuple[str, ...]) -> Callable[[str], str] | None:
    """A function that masks these values in a text; None when there are none.

    Values are also found as JSON strings and URLs write them. Values shorter than 4 characters are
    not masked: that would destroy ordinary text.
    """
    forms = {form for value in secrets if len(value) >= _MIN_SECRET for form in _forms(value)}
    values = sorted(forms, key=len, reverse=True)
    if not values:
        return None

    def redact(text: str) -> str:
        for value in values:
            if value in text:
                text = text.replace(value, MASK)
        return text

    return redact


def redact_result(result: ToolResult, redact: Callable[[str], str]) -> ToolResult:
    """The result without secrets; the same object when there were none."""
    content = result.content
    structured = redact_value(result.structured, redact)
    if structured != result.structured and _is_its_json(content, result.structured):
        # masking the JSON text itself could break it
        clean: str | tuple[Part, ...] = to_json(structured).decode()
    elif isinstance(content, str):
        clean = redact(content)
    else:
        clean = tuple(_part(part, redact) for part in content)
    artifacts = tuple(_artifact(item, redact) for item in result.artifacts)
    if clean == content and structured == result.structured and artifacts == result.artifacts:
        return result
    return structs.replace(result, content=clean, structured=structured, artifacts=artifacts)


def _is_its_json(content: str | tuple[Part, ...], structured: Any) -> bool:
    if not isinstance(structured, (dict, list)):
        return False
    try:
        return content == to_json(structured).decode()
    except ValueError:
        return False


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield quote(secret, safe="", errors="replace")


def _part(part: Part, redact: Callable[[str], str]) -> Part:
    match part:
        case TextPart():
            return TextPart(text=redact(part.text))
        case ResourcePart():
            text = part.text if part.text is None else redact(part.text)
            return structs.replace(part, uri=redact(part.uri), text=text)
        case _:
            return part


def _artifact(item: Artifact, redact: Callable[[str], str]) -> Artifact:
    data = item.data
    if data is not None and _is_text(item.media_type):
        data = _bytes(data, redact)
    return structs.replace(item, name=redact(item.name), data=data)


def _bytes(data: bytes, redact: Callable[[str], str]) -> bytes:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    return redact(text).encode()


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or any(kind in media_type for kind in _TEXTUAL)


def redact_value(value: Any, redact: Callable[[str], str]) -> Any:
    """A JSON value without secrets, in its texts and in its keys."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {
            redact(key) if isinstance(key, str) else key: redact_value(item, redact)
            for key, item in items
        }
    if isinstance(value, (list, tuple)):
        return [redact_value(item, redact) for item in cast("list[Any]", value)]
    return value
