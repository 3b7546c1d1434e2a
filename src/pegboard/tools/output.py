"""From what a tool returns to a `ToolResult`, checked against what it promised."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from pegboard.core.result import (
    Artifact,
    AudioPart,
    ImagePart,
    Part,
    ResourcePart,
    TextPart,
    ToolResult,
)
from pegboard.core.tool import JsonSchema
from pegboard.errors import ToolOutputError
from pegboard.tools.raw_schema import Validator, compiled, output_problem

Finish = Callable[[Any], ToolResult]
_EXACT: Mapping[str, type] = {"int": int, "float": float, "bool": bool}
"""Types whose values need no check when a schema says no more than the name of the type."""
_PARTS = (TextPart, ImagePart, AudioPart, ResourcePart)


def wrap(value: Any) -> ToolResult:
    """A result around any value; a `ToolResult` is kept.

    Raises:
        ToolOutputError: The value cannot be said in JSON.
    """
    kind = value.__class__
    if kind is str:
        return ToolResult(content=value, structured=value)
    if kind is ToolResult:
        return value
    if value is None:
        return ToolResult(content="null")
    if kind is bool or kind is int:
        return ToolResult(content="true" if value is True else _scalar(value), structured=value)
    if isinstance(value, _PARTS):
        return ToolResult(content=(value,))
    if isinstance(value, (bytes, bytearray, Artifact)):
        return _with_artifacts([value])
    if isinstance(value, (list, tuple)) and value and _is_rich(cast("Sequence[Any]", value)):
        return _with_artifacts(cast("Sequence[Any]", value))
    return _json(_plain(value))


def typed_finish(adapter: TypeAdapter[Any], schema: Callable[[], JsonSchema], tool: str) -> Finish:
    """Checks a Python value by its return type, quickly when the type is right.

    A value of another type that dumps to something the schema allows is accepted, so that a
    function may return a dict where it declares a model.
    """
    validate, dump = adapter.validator.validate_python, adapter.serializer.to_python
    shown: list[Validator] = []
    core = adapter.core_schema
    exact = _EXACT.get(core["type"]) if len(core) == 1 else None

    def finish(value: Any) -> ToolResult:
        kind = value.__class__
        if kind is not exact:
            if kind is ToolResult:
                return value
            try:
                validate(value, strict=True)
            except ValidationError:
                plain = _plain(value)
                if not shown:
                    shown.append(compiled(tool, schema()))
                _refuse(output_problem(shown[0], plain), tool)
                return _json(plain)
        if kind is str:
            return ToolResult(content=value, structured=value)
        if kind is int:
            return ToolResult(content=_scalar(value), structured=value)
        try:
            return _json(dump(value, mode="json", by_alias=True))
        except (PydanticSerializationError, ValueError) as error:
            raise _not_json(value, error) from error

    return finish


def schema_finish(schema: JsonSchema, tool: str) -> Finish:
    """Checks `structured` by a raw output schema.

    Text content without a structured value is let through: a foreign tool may answer in prose.
    """
    validator = compiled(tool, schema)

    def finish(value: Any) -> ToolResult:
        result = wrap(value)
        if not result.is_error and result.structured is not None:
            _refuse(output_problem(validator, result.structured), tool)
        return result

    return finish


def _refuse(problem: str, tool: str) -> None:
    if problem:
        error = ToolOutputError(f"'{tool}' returned something that its own schema does not allow.")
        raise error from ValueError(problem)


def _plain(value: Any) -> Any:
    try:
        return to_jsonable_python(value, by_alias=True, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError, UnicodeError, RecursionError) as error:
        raise _not_json(value, error) from error


def _json(value: Any) -> ToolResult:
    """A result around a JSON value; text stays text for the model."""
    if isinstance(value, str):
        return ToolResult(content=value, structured=value)
    if isinstance(value, float) and not math.isfinite(value):
        raise _not_json(value, ValueError("not a finite number"))
    try:
        text = to_json(value, inf_nan_mode="constants").decode()
    except (PydanticSerializationError, ValueError, UnicodeError) as error:
        raise _not_json(value, error) from error
    return ToolResult(content=text, structured=value)


def _scalar(value: int) -> str:
    # int to str of huge numbers is quadratic and capped by the interpreter
    return str(value) if value.bit_length() < 10_000 else hex(value)


def _not_json(value: object, cause: Exception) -> ToolOutputError:
    error = ToolOutputError(f"The tool returned a {type(value).__name__} that is not JSON.")
    error.__cause__ = cause
    return error


def _is_rich(items: Sequence[Any]) -> bool:
    return any(isinstance(item, (*_PARTS, Artifact, bytes, bytearray)) for item in items)


def _with_artifacts(items: Sequence[Any]) -> ToolResult:
    parts: list[Part] = []
    artifacts: list[Artifact] = []
    for item in items:
        if isinstance(item, _PARTS):
            parts.append(item)
        elif isinstance(item, Artifact):
            artifacts.append(item)
        elif isinstance(item, (bytes, bytearray)):
            name = f"result-{len(artifacts) + 1}.bin"
            artifacts.append(Artifact(name=name, size=len(item), data=bytes(item)))
        else:
            parts.append(TextPart(text=wrap(item).text))
    named = [
        TextPart(text=f"[file {item.name}, {item.media_type}, {item.size} bytes]")
        for item in artifacts
    ]
    return ToolResult(content=(*parts, *named), artifacts=tuple(artifacts))
