"""Encodes request bodies: JSON, forms, multipart forms, text and files."""

import base64
import binascii
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pegboard.errors import InvalidRequest
from pegboard.sources.openapi.call.body_arguments import FORM, BodyPlan
from pegboard.sources.openapi.call.parameter_styles import (
    encode_utf8,
    join_array,
    serialize_form,
    to_json,
    to_text,
)
from pegboard.sources.openapi.call.piece_names import PieceNames
from pegboard.sources.openapi.document.lenient_access import Node, sequence, text

_OCTETS = "application/octet-stream"
_SPACES = re.compile(r"\s+")


def encode_body(plan: BodyPlan, value: Any, name: str) -> tuple[str, bytes]:
    """Return the content type and the bytes of a body.

    Args:
        plan: The plan of the body.
        value: The body as JSON data.
        name: The name of the argument, for messages.

    Raises:
        InvalidRequest: The value cannot be encoded.
    """
    match plan.kind:
        case "json":
            return plan.content_type, to_json(value, name).encode()
        case "form":
            known = [one.name for one in plan.fields or ()]
            return FORM, _form(_fields(value, name), plan.encodings, known)
        case "multipart":
            return _multipart(_fields(value, name), plan)
        case "text":
            has_charset = "charset" in plan.content_type.lower()
            kind = plan.content_type if has_charset else f"{plan.content_type}; charset=utf-8"
            return kind, encode_utf8(to_text(value, name), name)
        case "file":
            content = file_bytes(value, name)
            return file_type(value) or plan.content_type, content


def file_bytes(value: Any, name: str) -> bytes:
    """Return the content of a file argument.

    Raises:
        InvalidRequest: Its `base64` is malformed.
    """
    given = _fields(value, name)
    if "base64" not in given:
        return encode_utf8(to_text(given.get("text", ""), name), name)
    try:
        return base64.b64decode(_SPACES.sub("", given["base64"]), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest(
            f"'{name}': this is not base64. Pass text, and handles of text, as 'text'."
        ) from error


def file_type(value: Any) -> str:
    """Return the content type of a file argument; empty without one."""
    return text(_fields(value, "file").get("content_type"))


def _form(fields: Mapping[str, Any], encodings: Mapping[str, Node], known: Iterable[str]) -> bytes:
    pieces: list[str] = []
    names = PieceNames()
    for name in {*fields, *known}:
        names.claim(name, owner=name)
    for name, value in fields.items():
        if value is None:
            continue
        encoding = encodings.get(name, {})
        style = text(encoding.get("style"))
        if isinstance(value, Mapping) and not style:
            value = to_json(value, name)  # noqa: PLW2901 # OpenAPI 3, 4.8.15.1.1: objects are JSON
        found = serialize_form(
            name,
            value,
            style=style or "form",
            explode=_explodes(encoding),
            nested=_item_styles(encoding),
        )
        if style == "deepObject" and not isinstance(value, (Mapping, list)):
            names.check_plain(owner=name, name=name)
        names.check(found, owner=name, name=name)
        pieces.extend(found)
    return "&".join(pieces).encode()


def _explodes(encoding: Node) -> bool:
    explode = encoding.get("explode")
    if isinstance(explode, bool):
        return explode
    return text(encoding.get("style")) in ("", "form", "deepObject")


def _multipart(fields: Mapping[str, Any], plan: BodyPlan) -> tuple[str, bytes]:
    boundary = secrets.token_hex(16)
    parts: list[bytes] = []
    for name, value in fields.items():
        encoding = plan.encodings.get(name, {})
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        if isinstance(value, list) and not any(map(is_file, items)):
            items = _in_one_part(items, name, encoding)
        kind = text(encoding.get("contentType")).partition(",")[0].strip()
        kind = "" if "*" in kind else kind
        parts.extend(_part(name, item, kind) for item in items if item is not None)
    mark = f"--{boundary}\r\n".encode()
    body = b"".join(mark + part + b"\r\n" for part in parts) + f"--{boundary}--\r\n".encode()
    bare = plan.content_type.partition(";")[0].strip()
    return f"{bare}; boundary={boundary}", body


def _item_styles(encoding: Node) -> tuple[str, ...]:
    return tuple(text(style) for style in sequence(encoding.get("nested")))


def _in_one_part(items: list[Any], name: str, encoding: Node) -> list[Any]:
    """Join the items where the document's style says so (OpenAPI 3.1.1, 4.8.15.1)."""
    style, nested = text(encoding.get("style")), _item_styles(encoding)
    if not style:
        return items
    if _explodes(encoding):
        inner, *deeper = nested or ("",)
        return [
            join_array(cast("list[Any]", item), name, style=inner, nested=deeper)
            if inner and isinstance(item, list)
            else item
            for item in items
        ]
    return [join_array(items, name, style=style, nested=nested)] if items else []


def _part(name: str, value: Any, content_type: str) -> bytes:
    about = f'form-data; name="{_escape(name)}"'
    if is_file(value):
        given = _fields(value, name)
        about += f'; filename="{_escape(text(given.get("name")) or name)}"'
        kind = text(given.get("content_type")) or content_type or _OCTETS
        content = file_bytes(value, name)
    elif isinstance(value, (Mapping, list)) or content_type.endswith("json"):
        kind, content = content_type or "application/json", to_json(value, name).encode()
    else:
        kind, content = content_type, encode_utf8(to_text(value, name), name)
    head = f"Content-Disposition: {about}\r\n"
    if kind:
        head += f"Content-Type: {kind}\r\n"
    return encode_utf8(head, name) + b"\r\n" + content


def is_file(value: Any) -> bool:
    """Whether a value is a file argument: it has `text` or `base64`, and no foreign keys."""
    if not isinstance(value, Mapping):
        return False
    keys = set(cast("Mapping[str, Any]", value))
    return bool(keys & {"text", "base64"}) and keys <= {"name", "content_type", "text", "base64"}


def _fields(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidRequest(f"'{name}' must be an object.")
    return cast("Mapping[str, Any]", value)


def _escape(value: str) -> str:
    """Escape a quoted parameter as browsers do (https://html.spec.whatwg.org, 4.10.21.8)."""
    return value.replace("\0", "").replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
