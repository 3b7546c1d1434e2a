"""Serializes parameters into the path, the query, headers and cookies.

`style` and `explode` follow OpenAPI 3.1.1, 4.8.12.6; the characters follow RFC 3986.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from pegboard.errors import InvalidRequest
from pegboard.sources.openapi.document.operations import OperationParameter

Pairs = list[tuple[str, str]]
_UNRESERVED = "-._~"
# characters that `allowReserved` keeps, without those that would end the value or the query
_RESERVED = _UNRESERVED + ":/?@!$'()*,"
_IN_COOKIES = _UNRESERVED + "!#$&'()*+/:<=>?@[]^`{|}"
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def serialize_path(parameter: OperationParameter, value: Any) -> str:
    """Serialize a value into a path segment.

    Raises:
        InvalidRequest: The value cannot be serialized.
    """
    name, explode = parameter.name, parameter.explode
    if parameter.content_type:
        return _quote(_by_content_type(parameter, value), name)
    separators = _path_separators(parameter)
    pairs = _pairs(value, name)
    check_separators(value, name, separators, nested=parameter.nested)
    written = _quote_items(value, name, nested=parameter.nested)
    named = [f"{_quote(key, name)}={_quote(item, name)}" for key, item in pairs or []]
    flat = [_quote(part, name) for pair in pairs or [] for part in pair]
    match parameter.style:
        case "label":
            parts = (named if explode else flat) if pairs is not None else written
            return "." + (".".join(parts) if explode else ",".join(parts))
        case "matrix":
            return _matrix(
                _quote(name, name),
                named,
                flat if pairs is not None else written,
                value,
                explode=explode,
            )
        case _:
            parts = (named if explode else flat) if pairs is not None else written
            return _quote_separator(parameter.style).join(parts)


def serialize_query(parameter: OperationParameter, value: Any) -> list[str]:
    """Serialize a value as `name=value` pieces; none for an empty value.

    Raises:
        InvalidRequest: The value cannot be serialized.
    """
    name = parameter.name
    if parameter.content_type:
        return [f"{_quote(name, name)}={_quote(_by_content_type(parameter, value), name)}"]
    return serialize_form(
        name,
        value,
        style=parameter.style,
        explode=parameter.explode,
        nested=parameter.nested,
        safe=_RESERVED if parameter.allow_reserved else _UNRESERVED,
    )


def serialize_form(
    name: str,
    value: Any,
    *,
    style: str,
    explode: bool,
    nested: Sequence[str] = (),
    safe: str = _UNRESERVED,
) -> list[str]:
    """Serialize a value of a query or form as `name=value` pieces.

    Raises:
        InvalidRequest: The value cannot be serialized.
    """
    key = _quote(name, name)
    check_separators(value, name, () if explode else (_separator(style),), nested=nested)
    if style == "deepObject" and isinstance(value, (Mapping, list)):
        return [
            f"{_quote(f'{name}{path}', name)}={_quote(item, name, safe)}"
            for path, item in _deep_object_pairs(value, name)
        ]
    pairs = _pairs(value, name, repeats=explode)
    if pairs is not None and explode:
        return [f"{_quote(part, name)}={_quote(item, name, safe)}" for part, item in pairs]
    if pairs is not None:
        written = [_quote(part, name, safe) for pair in pairs for part in pair]
    else:
        written = _quote_items(value, name, nested=nested, safe=safe)
    if isinstance(value, list) and explode:
        return [f"{key}={item}" for item in written]
    if not written:
        return []
    return [f"{key}={_quote_separator(style).join(written)}"]


def join_array(value: Sequence[Any], name: str, *, style: str, nested: Sequence[str] = ()) -> str:
    """Join an array into one text without percent-encoding.

    Raises:
        InvalidRequest: An item cannot be serialized.
    """
    inner, *rest = nested or ("",)
    check_separators(value, name, (_separator(style),), nested=nested)
    return _separator(style).join(
        join_array(cast("list[Any]", item), name, style=inner, nested=rest)
        if inner and isinstance(item, list)
        else to_text(item, name)
        for item in value
        if item is not None
    )


def serialize_header(parameter: OperationParameter, value: Any) -> str:
    """Serialize the value of a header.

    Raises:
        InvalidRequest: The value has a line break or another control character.
    """
    name = parameter.name
    if parameter.content_type:
        return check_header_text(_by_content_type(parameter, value), name)
    pairs = _pairs(value, name)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        for item in _innermost(items, len(parameter.nested)):
            check_header_text(
                to_text(item, name), name
            )  # a tab may stand between items, not within one
        return join_array(items, name, style=parameter.style, nested=parameter.nested)
    if pairs is None:
        return check_header_text(to_text(value, name), name)
    check_separators(value, name, (",", "=") if parameter.explode else (",",))
    if parameter.explode:
        parts = [f"{key}={item}" for key, item in pairs]
    else:
        parts = [part for pair in pairs for part in pair]
    return check_header_text(",".join(parts), name)


def serialize_cookie(parameter: OperationParameter, value: Any) -> list[str]:
    """Serialize a value as `name=value` pieces of the `Cookie` header.

    Raises:
        InvalidRequest: The value is not valid Unicode text.
    """
    name = parameter.name
    if parameter.content_type:
        return [f"{_quote(name, name)}={_quote(_by_content_type(parameter, value), name)}"]
    return serialize_form(name, value, style="form", explode=parameter.explode, safe=_IN_COOKIES)


def check_separators(
    value: Any, name: str, separators: Sequence[str], *, nested: Sequence[str] = ()
) -> None:
    """Check that no item of an array or object has the character that separates the items.

    Servers decode before they split, so that percent-encoding would not keep an item whole.

    Args:
        value: The value of a parameter; only arrays and objects have items.
        name: The parameter.
        separators: Between the items.
        nested: The styles of inner arrays.

    Raises:
        InvalidRequest: An item would be read as two.
    """
    between = (*separators, *map(_separator, nested))
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        items = [part for key, item in fields.items() if item is not None for part in (key, item)]
    else:
        items = list(_innermost(cast("list[Any]", value), len(nested))) if _is_list(value) else []
    for item in items if between else ():
        text = to_text(item, name)
        if found := next((one for one in between if one in text), ""):
            raise InvalidRequest(
                f"'{name}' must not have '{found}' within an item: it separates the items, "
                f"and '{text[:60]}' would become two."
            )


def check_header_text(value: str, name: str) -> str:
    """Return a value if a header can hold it.

    Raises:
        InvalidRequest: A header cannot hold it.
    """
    if _CONTROL.search(value):
        raise InvalidRequest(f"'{name}' must not have line breaks or control characters.")
    encode_utf8(value, name)
    return value


def encode_utf8(value: str, name: str) -> bytes:
    """Encode a text as UTF-8.

    Raises:
        InvalidRequest: It has an unpaired surrogate.
    """
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest(f"'{name}' is not valid Unicode text.") from error


def to_json(value: Any, name: str) -> str:
    """Encode a value as JSON text.

    Raises:
        InvalidRequest: The value has no JSON form.
    """
    try:
        made = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"'{name}' cannot be written as JSON.") from error
    encode_utf8(made, name)
    return made


def to_text(value: Any, name: str) -> str:
    """Return a single value as text; nested arrays and objects become JSON.

    Raises:
        InvalidRequest: The value cannot be serialized.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return to_json(value, name)


def _by_content_type(parameter: OperationParameter, value: Any) -> str:
    """Serialize by the parameter's content type; text stays as it is unless that is JSON."""
    kind = parameter.content_type.partition(";")[0].strip().lower()
    if isinstance(value, str) and not kind.endswith(("/json", "+json", "*")):
        return value
    return to_json(value, parameter.name)


def _matrix(
    name: str, named: Sequence[str], parts: Sequence[str], value: Any, *, explode: bool
) -> str:
    if named and explode:
        return "".join(f";{pair}" for pair in named)
    if isinstance(value, list) and explode:
        return "".join(f";{name}={part}" for part in parts)
    joined = ",".join(parts)
    return f";{name}={joined}" if joined else f";{name}"


def _pairs(value: Any, name: str, *, repeats: bool = False) -> Pairs | None:
    """Names and values of an object; an array gives one pair, or a pair an item; None otherwise."""
    if not isinstance(value, Mapping):
        return None
    fields = cast("Mapping[str, Any]", value)
    if repeats:
        return [(key, text) for key, item in fields.items() for text in _texts(item, name)]
    return [(key, to_text(item, name)) for key, item in fields.items() if item is not None]


def _texts(value: Any, name: str) -> list[str]:
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [to_text(item, name) for item in items if item is not None]


def _items(value: Any, name: str) -> list[str]:
    return [] if isinstance(value, Mapping) else _texts(value, name)


def _innermost(items: Sequence[Any], depth: int) -> Iterator[Any]:
    """Yield the items of nested arrays, `depth` levels down."""
    for item in items:
        if depth and isinstance(item, list):
            yield from _innermost(cast("list[Any]", item), depth - 1)
        elif item is not None:
            yield item


def _quote_items(
    value: Any, name: str, *, nested: Sequence[str] = (), safe: str = _UNRESERVED
) -> list[str]:
    """Quote the items of an array, or a single value; `nested` has the styles of inner arrays."""
    if not nested or not isinstance(value, list):
        return [_quote(item, name, safe) for item in _items(value, name)]
    made: list[str] = []
    for item in cast("list[Any]", value):
        if item is not None:
            parts = _quote_items(item, name, nested=nested[1:], safe=safe)
            made.append(_quote_separator(nested[0]).join(parts))
    return made


def _quote_separator(style: str) -> str:
    return quote(_separator(style), safe=",")


def _separator(style: str) -> str:
    return _SEPARATORS.get(style, ",")


def _path_separators(parameter: OperationParameter) -> tuple[str, ...]:
    if parameter.style == "label" and parameter.explode:
        return (".",)
    return (
        () if parameter.style == "matrix" and parameter.explode else (_separator(parameter.style),)
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _deep_object_pairs(value: Any, name: str) -> list[tuple[str, str]]:
    """Yield `[a][b]` paths with values; array items are numbered, as servers expect."""
    if not isinstance(value, (Mapping, list)):
        return [] if value is None else [("", to_text(value, name))]
    if isinstance(value, list):
        pairs = enumerate(cast("list[Any]", value))
    else:
        pairs = cast("Mapping[str, Any]", value).items()
    return [
        (f"[{key}]{path}", text)
        for key, item in pairs
        for path, text in _deep_object_pairs(item, name)
    ]


def _quote(text: str, name: str, safe: str = _UNRESERVED) -> str:
    encode_utf8(text, name)
    return quote(text, safe=safe)
