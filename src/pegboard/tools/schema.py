"""The schemas of a Python function, made by pydantic from its own types."""

import enum
import types
import typing
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args, get_origin
from uuid import UUID

import typing_extensions
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, SchemaError, to_jsonable_python

from pegboard.core.result import Artifact, AudioPart, ImagePart, ResourcePart, TextPart, ToolResult
from pegboard.errors import ToolSignatureError
from pegboard.tools.signature import MISSING, Parameter, Signature

_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)
_PLAIN: frozenset[Any] = frozenset(
    (int, str, float, bool, bytes, None, type(None), Any, date, datetime, time, timedelta)
) | {UUID, Decimal, Path, dict, list, set, tuple, object}
_UNSHAPED = (ToolResult, Artifact, TextPart, ImagePart, AudioPart, ResourcePart, bytes, bytearray)
_FAILURES = (PydanticUserError, SchemaError, TypeError, ValueError, NameError)


def arguments_adapter(
    function: str, signature: Signature, descriptions: Mapping[str, str]
) -> TypeAdapter[Any]:
    """An adapter of a `TypedDict` of the parameters, closed, without NaN and infinities.

    Raises:
        ToolSignatureError: A type that cannot become a schema.
    """
    fields = {
        item.name: _field(item, descriptions.get(item.name, "")) for item in signature.parameters
    }
    shape: Any = cast("Any", typing_extensions.TypedDict)(f"{function}_arguments", fields)
    shape.__pydantic_config__ = _CONFIG
    # of no module: pydantic would read this one, for each tool, to find docstrings of the fields
    shape.__module__ = ""
    try:
        return TypeAdapter(shape)
    except _FAILURES as error:
        raise _blame(function, signature, error) from error


def arguments_schema(
    function: str, signature: Signature, adapter: TypeAdapter[Any]
) -> dict[str, Any]:
    """The schema as it is shown and enforced: objects closed, defaults filled in.

    Raises:
        ToolSignatureError: A type that has no JSON Schema.
    """
    try:
        schema = adapter.json_schema()
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        raise _blame(function, signature, error) from error
    schema.pop("title", None)
    schema.pop("description", None)
    properties = schema.setdefault("properties", {})
    shown = {_alias(item): item for item in signature.parameters}
    for name, node in properties.items():
        node.pop("title", None)
        default = shown[name].default if name in shown else MISSING
        if default is not MISSING:
            _show_default(node, default)
    for node in _objects(schema):
        node.setdefault("additionalProperties", False)
    return schema


def check_types(function: str, signature: Signature) -> None:
    """Build what is not obviously a schema, so that a bad type fails where it is written.

    Raises:
        ToolSignatureError: A type that cannot become a schema.
    """
    for item in signature.parameters:
        if not _is_plain(item.hint):
            _check_type(function, item)


def output_adapter(returns: Any) -> TypeAdapter[Any] | None:
    """An adapter of the return type; None when it promises nothing that a schema can say."""
    if returns in (MISSING, Any, None, type(None), object) or _is_unshaped(returns):
        return None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(returns)
        adapter.json_schema(mode="serialization")
    except (*_FAILURES, PydanticInvalidForJsonSchema):
        return None
    return adapter


def output_schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """The schema of what `ToolResult.structured` will hold."""
    schema = adapter.json_schema(mode="serialization")
    schema.pop("title", None)
    return schema


def _field(item: Parameter, description: str) -> Any:
    hint = item.hint
    if description and not _has_description(hint):
        hint = Annotated[hint, Field(description=description)]
    return hint if item.required else typing_extensions.NotRequired[hint]


def _has_description(hint: Any) -> bool:
    return get_origin(hint) is Annotated and any(
        isinstance(item, FieldInfo) and item.description for item in get_args(hint)[1:]
    )


def _alias(item: Parameter) -> str:
    if get_origin(item.hint) is Annotated:
        for extra in get_args(item.hint)[1:]:
            if isinstance(extra, FieldInfo) and isinstance(
                extra.validation_alias or extra.alias, str
            ):
                return str(extra.validation_alias or extra.alias)
    return item.name


def _show_default(node: dict[str, Any], default: Any) -> None:
    try:
        node["default"] = to_jsonable_python(default)
    except (PydanticSerializationError, ValueError):
        node.setdefault("description", f"Default: {type(default).__name__}.")


def _objects(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema within that has properties of its own."""
    if isinstance(node, list):
        for item in cast("list[Any]", node):
            yield from _objects(item)
    elif isinstance(node, dict):
        schema = cast("dict[str, Any]", node)
        if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
            yield schema
        for key, value in schema.items():
            if key == "properties":
                for item in value.values():
                    yield from _objects(item)
            elif key not in {"default", "const", "enum", "examples"}:
                yield from _objects(value)


def _is_unshaped(returns: Any) -> bool:
    """Whether a value of this type carries its own content instead of a JSON value."""
    origin = get_origin(returns) or returns
    if origin is Annotated:
        return _is_unshaped(get_args(returns)[0])
    if isinstance(origin, type) and issubclass(origin, _UNSHAPED):
        return True
    if origin in (typing.Union, types.UnionType, list, tuple):
        return any(_is_unshaped(item) for item in get_args(returns) if item is not Ellipsis)
    return False


def _is_plain(hint: Any) -> bool:
    """Whether pydantic surely makes a schema of this; others are tried out."""
    origin = get_origin(hint)
    if origin is None:
        return _is_plain_class(hint)
    if origin is Literal:
        return True
    if origin is Annotated:
        return all(isinstance(item, FieldInfo) for item in get_args(hint)[1:]) and _is_plain(
            get_args(hint)[0]
        )
    if origin in (list, dict, set, frozenset, tuple, typing.Union, types.UnionType):
        return all(item is Ellipsis or _is_plain(item) for item in get_args(hint))
    return False


def _is_plain_class(hint: Any) -> bool:
    try:
        if hint in _PLAIN:
            return True
    except TypeError:
        return False
    return isinstance(hint, type) and (
        issubclass(hint, enum.Enum) or (issubclass(hint, BaseModel) and hint.__pydantic_complete__)
    )


def _check_type(function: str, item: Parameter) -> None:
    try:
        TypeAdapter(item.hint).json_schema()
    except (*_FAILURES, PydanticInvalidForJsonSchema) as error:
        raise _signature_error(function, item, error) from error


def _blame(function: str, signature: Signature, error: Exception) -> ToolSignatureError:
    for item in signature.parameters:
        try:
            _check_type(function, item)
        except ToolSignatureError as found:
            return found
    return ToolSignatureError(f"@tool {function}(): {str(error).partition(chr(10))[0]}")


def _signature_error(function: str, item: Parameter, error: Exception) -> ToolSignatureError:
    reason = str(error).strip().partition("\n")[0]
    return ToolSignatureError(
        f"@tool {function}(): parameter '{item.name}' has a type that cannot become a JSON "
        f"Schema ({item.hint!r}): {reason}"
    )
