"""Taking secrets out of a result before anyone sees it."""

from collections.abc import Callable
from typing import Any, cast

from msgspec import structs

from pegboard.core.result import Part, ResourcePart, TextPart, ToolResult

MASK = "[redacted]"


def redactor(secrets: tuple[str, ...]) -> Callable[[str], str] | None:
    """A function that masks these values wherever they stand; None when there are none.

    Values shorter than 4 characters are left alone: masking them would destroy ordinary text.
    """
    values = sorted({value for value in secrets if len(value) >= 4}, key=len, reverse=True)
    if not values:
        return None

    def redact(text: str) -> str:
        for value in values:
            if value in text:
                text = text.replace(value, MASK)
        return text

    return redact


def redacted(result: ToolResult, redact: Callable[[str], str]) -> ToolResult:
    """The result without secrets; the same object when there were none."""
    content = result.content
    clean = (
        redact(content) if isinstance(content, str) else tuple(_part(p, redact) for p in content)
    )
    structured = _value(result.structured, redact)
    if clean == content and structured == result.structured:
        return result
    return structs.replace(result, content=clean, structured=structured)


def _part(part: Part, redact: Callable[[str], str]) -> Part:
    match part:
        case TextPart():
            return TextPart(text=redact(part.text))
        case ResourcePart() if part.text is not None:
            return structs.replace(part, text=redact(part.text))
        case _:
            return part


def _value(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {redact(key): _value(item, redact) for key, item in items}
    if isinstance(value, list):
        return [_value(item, redact) for item in cast("list[Any]", value)]
    return value
