"""A question of a tool as a person may be shown it: foreign text, and a flat form.

The tool may be a server that nobody trusts. What is not in the subset of JSON Schema that MCP has
for forms is left out or refused, so that no screen and no validator meets it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

from pegboard.core.elicitation import Question
from pegboard.core.text.truncate import truncate
from pegboard.errors import ElicitationUnavailable
from pegboard.execution.results.redaction import MASK, redact_value

MAX_MESSAGE = 4_000
_MAX_LABEL = 200
_MAX_DESCRIPTION = 1_000
_MAX_FIELDS = 50
_MAX_CHOICES = 200
_MAX_URL = 2_000
_MAX_RECORDED = 2_000
_MAX_FORM = 65_536
"""Characters of a whole form as JSON."""
_MAX_NUMBER = 2**53
"""Beyond it, numbers of JSON are not the same everywhere."""
_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,64}")
_SECRET = re.compile(
    r"pass(word|wd|phrase)|pwd|secret|token|api[_-]?key|credential|private[_-]?key|cvv|(^|_)pin($|_)",
    re.IGNORECASE,
)
_FORMATS = frozenset({"email", "uri", "date", "date-time"})
_LENGTHS = ("minLength", "maxLength")
_NUMBERS = ("minimum", "maximum")
_ITEMS = ("minItems", "maxItems")


def read_question(question: Question) -> dict[str, Any]:
    """The text of a question, and its form or its address.

    Raises:
        ElicitationUnavailable: It cannot be shown, or asks for a secret.
    """
    text = clean_text(question.message, MAX_MESSAGE)
    if question.url:
        return {"text": text, "url": _check_url(question.url)}
    return {"text": text, "schema": _clean_schema(question.schema)}


def clean_text(value: object, most: int) -> str:
    """A text without control characters and marks that turn its direction; lines are kept."""
    if not isinstance(value, str):
        return ""
    kept = (char if char.isprintable() or char == "\n" else " " for char in value[: 2 * most])
    return truncate("".join(kept).strip(), most)


def mask_answer(
    content: Mapping[str, Any], *, redact: Callable[[str], str] | None
) -> dict[str, Any]:
    """An answer as it is recorded: secrets masked, long texts cut."""
    shown = {
        name: MASK
        if _SECRET.search(name)
        else truncate(value, _MAX_RECORDED)
        if isinstance(value, str)
        else value
        for name, value in content.items()
    }
    return shown if redact is None else cast("dict[str, Any]", redact_value(shown, redact))


def _check_url(url: str) -> str:
    problem = "The address of its page cannot be shown: it is not a plain http or https address."
    if len(url) > _MAX_URL or not url.isprintable() or " " in url or "\\" in url:
        raise ElicitationUnavailable(problem)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ElicitationUnavailable(problem) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise ElicitationUnavailable(problem)
    return url


def _clean_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties: object = schema.get("properties") or {}
    if schema.get("type", "object") != "object" or not isinstance(properties, Mapping):
        raise ElicitationUnavailable("Its form cannot be shown: it is not a flat object.")
    fields = cast("Mapping[Any, Any]", properties)
    if len(fields) > _MAX_FIELDS:
        raise ElicitationUnavailable(f"Its form has more than {_MAX_FIELDS} fields.")
    cleaned = {_check_name(name): _clean_field(name, node) for name, node in fields.items()}
    required: object = schema.get("required") or ()
    wanted = cast("Sequence[Any]", required) if isinstance(required, (list, tuple)) else ()
    form = {
        "type": "object",
        "properties": cleaned,
        "required": [name for name in cleaned if name in wanted],
        "additionalProperties": False,
    }
    if len(json.dumps(form)) > _MAX_FORM:
        raise ElicitationUnavailable("Its form is too large to be shown.")
    return form


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ElicitationUnavailable("Its form cannot be shown: a field has an unusual name.")
    return name


def _clean_field(name: str, node: object) -> dict[str, Any]:
    """One field; raises `ElicitationUnavailable` for what a form of MCP does not have."""
    if not isinstance(node, Mapping):
        raise ElicitationUnavailable(f"Its form cannot be shown: '{name}' has no schema.")
    field = cast("Mapping[str, Any]", node)
    if field.get("format") == "password" or field.get("writeOnly") is True:
        raise ElicitationUnavailable(f"Its form asks for a secret, '{name}', which none may.")
    cleaned: dict[str, Any] = {}
    if title := clean_text(field.get("title"), _MAX_LABEL):
        cleaned["title"] = title
    if description := clean_text(field.get("description"), _MAX_DESCRIPTION):
        cleaned["description"] = description
    match field.get("type", "string"):
        case "string":
            cleaned |= _clean_string(name, field)
        case "number" | "integer" as kind:
            cleaned |= {"type": kind, **_limits(field, _NUMBERS)}
        case "boolean":
            cleaned |= {"type": "boolean"}
        case "array":
            items: object = field.get("items")
            choices = _choices(name, items) if isinstance(items, Mapping) else {}
            if not choices:
                raise ElicitationUnavailable(f"Its form cannot be shown: '{name}' has no choices.")
            cleaned |= {
                "type": "array",
                "items": {"type": "string", **choices},
                "uniqueItems": True,
                **_limits(field, _ITEMS, whole=True),
            }
        case _:
            raise ElicitationUnavailable(
                f"Its form cannot be shown: '{name}' is not a plain value."
            )
    return cleaned | _default(field)


def _clean_string(name: str, field: Mapping[str, Any]) -> dict[str, Any]:
    cleaned: dict[str, Any] = {"type": "string", **_choices(name, field)}
    if "enum" not in cleaned:
        cleaned |= _limits(field, _LENGTHS, whole=True)
        if field.get("format") in _FORMATS:
            cleaned["format"] = field["format"]
    return cleaned


def _choices(name: str, field: Any) -> dict[str, Any]:
    """The choices of a field, with their titles as `enumNames`; empty for a field without."""
    values: object = field.get("enum")
    titles: object = field.get("enumNames")
    if values is None and (options := field.get("oneOf") or field.get("anyOf")) is not None:
        nodes = [
            cast("Mapping[str, Any]", item)
            for item in cast("list[Any]", options if isinstance(options, list) else [])
            if isinstance(item, Mapping)
        ]
        values = [node.get("const") for node in nodes]
        titles = [node.get("title") for node in nodes]
    if values is None:
        return {}
    found = cast("list[Any]", values) if isinstance(values, list) else []
    is_shown = 0 < len(found) <= _MAX_CHOICES and all(_is_choice(item) for item in found)
    if not is_shown or len(set(found)) != len(found):
        raise ElicitationUnavailable(f"Its form cannot be shown: the choices of '{name}' are none.")
    named = cast("list[Any]", titles) if isinstance(titles, list) else []
    if len(named) != len(found):
        return {"enum": found}
    pairs = zip(found, named, strict=True)
    return {"enum": found, "enumNames": [clean_text(name, _MAX_LABEL) or it for it, name in pairs]}


def _is_choice(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _MAX_LABEL and value.isprintable()


def _limits(
    field: Mapping[str, Any], names: Sequence[str], *, whole: bool = False
) -> dict[str, Any]:
    """The limits of a field; one that is no number is left out."""
    kinds = (int,) if whole else (int, float)
    return {
        name: field[name]
        for name in names
        if isinstance(field.get(name), kinds)
        and _is_number(field[name])
        and not (whole and field[name] < 0)
    }


def _default(field: Mapping[str, Any]) -> dict[str, Any]:
    value: object = field.get("default")
    if isinstance(value, str):
        is_shown = len(value) <= _MAX_DESCRIPTION and clean_text(value, _MAX_DESCRIPTION) == value
        return {"default": value} if is_shown else {}
    return {"default": value} if isinstance(value, bool) or _is_number(value) else {}


def _is_number(value: object) -> bool:
    """Whether it is a number that each reader of JSON reads alike: not infinite, and not huge."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(cast("float", value)) <= _MAX_NUMBER
