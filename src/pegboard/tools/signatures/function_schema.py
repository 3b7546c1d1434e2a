"""The schemas of a Python function, made by pydantic from its own types."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, cast
from weakref import WeakSet

import typing_extensions
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import SchemaError, to_json

from pegboard.errors import ToolSignatureError
from pegboard.schemas.strict_json import decode
from pegboard.tools.signatures.signature import MISSING, FunctionParameter, Signature
from pegboard.tools.signatures.type_hints import fields_of, is_plain, promises_nothing, public_name

_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)
_FAILURES = (
    PydanticUserError,
    PydanticInvalidForJsonSchema,
    SchemaError,
    TypeError,
    ValueError,
    NameError,
    AttributeError,
    LookupError,
    RecursionError,
)
_NAMED = frozenset(("properties", "$defs", "patternProperties", "dependentSchemas"))
_VALUES = frozenset(("default", "const", "enum", "examples"))
_FINE: WeakSet[type] = WeakSet()
"""Classes of which a schema was made before: what many tools share is tried out once."""


class _Generator(GenerateJsonSchema):
    """Pydantic's own: made anew for each schema, it would list all of its methods each time."""

    def build_schema_type_to_method(self) -> Any:
        """The methods by kind of core schema, looked up when there is one of that kind."""
        return _Methods(self)


class _Methods(dict[str, Any]):
    def __init__(self, generator: GenerateJsonSchema) -> None:
        super().__init__()
        self._generator = generator

    def __missing__(self, kind: str) -> Any:
        method = self[kind] = getattr(self._generator, f"{kind.replace('-', '_')}_schema")
        return method


def arguments_adapter(
    function: str, signature: Signature, descriptions: Mapping[str, str]
) -> TypeAdapter[Any]:
    """An adapter of a `TypedDict` of the parameters, closed, without NaN and infinities.

    Raises:
        ToolSignatureError: A type that cannot become a schema.
    """
    try:
        return _adapter(function, signature.parameters, descriptions)
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
        schema = adapter.json_schema(schema_generator=_Generator)
    except _FAILURES as error:
        raise _blame(function, signature, error) from error
    schema.pop("title", None)
    schema.pop("description", None)
    properties = cast("dict[str, dict[str, Any]]", schema.setdefault("properties", {}))
    shown = {public_name(item): item for item in signature.parameters}
    for name, node in properties.items():
        if node.get("title") == name.replace("_", " ").title():
            del node["title"]  # made of the name: says nothing
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
        if not is_plain(item.hint, known=_FINE):
            _check_type(function, item)


def output_adapter(returns: Any) -> TypeAdapter[Any] | None:
    """An adapter of the return type; None when it promises nothing that a schema can say."""
    if promises_nothing(returns):
        return None
    for config in (ConfigDict(ser_json_inf_nan="constants"), None):
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(returns, config=config)
            adapter.json_schema(mode="serialization")
        except _FAILURES:  # also of a class that has a configuration of its own
            continue
        return adapter
    return None


def output_schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """The schema of what `ToolResult.structured` will hold."""
    schema = adapter.json_schema(mode="serialization")
    schema.pop("title", None)
    return schema


def _adapter(
    function: str, parameters: tuple[FunctionParameter, ...], descriptions: Mapping[str, str]
) -> TypeAdapter[Any]:
    fields = {item.name: _field(item, descriptions.get(item.name, "")) for item in parameters}
    shape: Any = cast("Any", typing_extensions.TypedDict)(f"{function}_arguments", fields)
    shape.__pydantic_config__ = _CONFIG
    # of no module: pydantic would read this one for each tool, to find docstrings of fields
    shape.__module__ = ""
    return TypeAdapter(shape)


def _field(item: FunctionParameter, description: str) -> Any:
    hint = item.hint
    if description and not _has_description(hint):
        hint = Annotated[hint, Field(description=description)]
    return hint if item.required else typing_extensions.NotRequired[hint]


def _has_description(hint: Any) -> bool:
    return any(item.description for item in fields_of(hint))


def _show_default(node: dict[str, Any], default: Any) -> None:
    try:
        node["default"] = decode(to_json(default))
    except ValueError:
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
            if key in _NAMED:
                yield from _objects(list(value.values()))
            elif key not in _VALUES and isinstance(value, (dict, list)):
                yield from _objects(value)


def _check_type(function: str, item: FunctionParameter) -> None:
    try:
        _adapter(function, (item,), {}).json_schema()
    except _FAILURES as error:
        raise _signature_error(function, item, error) from error
    if isinstance(item.hint, type):
        _FINE.add(item.hint)


def _blame(function: str, signature: Signature, error: Exception) -> ToolSignatureError:
    for item in signature.parameters:
        try:
            _check_type(function, item)
        except ToolSignatureError as found:
            return found
    return ToolSignatureError(f"@tool {function}(): {str(error).partition(chr(10))[0]}")


def _signature_error(
    function: str, item: FunctionParameter, error: Exception
) -> ToolSignatureError:
    reason = str(error).strip().partition("\n")[0]
    if reason.startswith("Unable to generate pydantic-core schema"):  # whose advice does not help
        reason = (
            "give it a type with a JSON form: str, int, a list or dict of these, a TypedDict, a "
            "dataclass or a pydantic model; hand over other objects by ToolContext.deps"
        )
    return ToolSignatureError(
        f"@tool {function}(): parameter '{item.name}' has a type that cannot become a JSON "
        f"Schema ({item.hint!r}): {reason}"
    )
