"""Conversion of return values to `ToolResult`, checked against the output schema."""

import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, SchemaSerializer, to_json
from pydantic_core.core_schema import any_schema

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
from pegboard.schemas.problems import path_of
from pegboard.schemas.strict_json import find_not_finite
from pegboard.schemas.validator import Validator, compile_schema, output_problem

Finish = Callable[[Any], ToolResult]
_NUMBERS: Mapping[str, type] = {"int": int, "float": float, "bool": bool}
_ANY = SchemaSerializer(any_schema(), {"ser_json_inf_nan": "constants"})
_MAX_DIGITS = 4_300
_MANY_DIGITS = re.compile("[0-9]{4300}")
"""More digits than Python and other JSON readers take for a number."""
_PARTS = (TextPart, ImagePart, AudioPart, ResourcePart)


def wrap(value: Any) -> ToolResult:
    """Wrap any value in a result; a `ToolResult` is returned unchanged.

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
        return _scalar(value)
    if isinstance(value, _PARTS):
        return ToolResult(content=(value,))
    if isinstance(value, (bytes, bytearray, Artifact)):
        return _with_artifacts([value])
    if isinstance(value, (list, tuple)) and value and _is_rich(cast("Sequence[Any]", value)):
        return _with_artifacts(cast("Sequence[Any]", value))
    return _json(_plain(value))


def finish_for_type(
    adapter: TypeAdapter[Any], schema: Callable[[], JsonSchema], tool: str
) -> Finish:
    """Checks a Python value by its return type, quickly when the type is right.

    A value of another type that dumps to something the schema allows is accepted, so that a
    function may return a dict where it declares a model.
    """
    validate, dump = adapter.validator.validate_python, adapter.serializer.to_python
    shown: list[Validator] = []

    def finish(value: Any) -> ToolResult:
        kind = value.__class__
        if kind is ToolResult:
            return value
        try:
            validate(value, strict=True)
        except ValidationError:
            return of_another_type(value)
        if kind is str:
            return ToolResult(content=value, structured=value)
        if kind is int:
            return _scalar(value)
        try:
            plain = dump(value, mode="json", by_alias=True, warnings="error")
        except (PydanticSerializationError, ValueError):
            return of_another_type(value)  # a model may hold what it never validated
        return _json(plain)

    def of_another_type(value: Any) -> ToolResult:
        result = _json(_plain(value))
        if not shown:
            shown.append(compile_schema(tool, schema()))
        _refuse(output_problem(shown[0], result.structured), tool, value)
        return result

    return _number_first(adapter.core_schema, finish)


def finish_for_schema(schema: JsonSchema, tool: str) -> Finish:
    """Checks `structured` by a raw output schema.

    Text content without a structured value is let through: a foreign tool may answer in prose.
    """
    validator = compile_schema(tool, schema)

    def finish(value: Any) -> ToolResult:
        result = wrap(value)
        if not result.is_error and result.structured is not None:
            _refuse(output_problem(validator, result.structured), tool, result.structured)
        return result

    return finish


def _number_first(core: Mapping[str, Any], otherwise: Finish) -> Finish:
    """A short way for numbers, where the schema says no more than which kind."""
    number = _NUMBERS.get(core["type"]) if len(core) == 1 else None
    if number is None:
        return otherwise

    def finish(value: Any) -> ToolResult:
        if value.__class__ is not number:
            return otherwise(value)
        return _json(value) if number is float else _scalar(value)

    return finish


def _refuse(problem: str, tool: str, value: object) -> None:
    if problem:
        error = ToolOutputError(f"'{tool}' returned something that its own schema does not allow.")
        raise error from ValueError(f"{problem}; it returned {_represent(value)}")


def _plain(value: Any) -> Any:
    try:
        return _ANY.to_python(value, mode="json", by_alias=True, warnings=False)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise _not_json(value) from error


def _json(value: Any) -> ToolResult:
    """A result around a JSON value; text stays text for the model."""
    if isinstance(value, str):
        return ToolResult(content=value, structured=value)
    try:
        text = to_json(value, inf_nan_mode="constants").decode()
        if "NaN" in text or "Infinity" in text or _has_many_digits(text):
            _check_numbers(value)
    except (PydanticSerializationError, ValueError) as error:
        raise _not_json(value) from error
    return ToolResult(content=text, structured=value)


def _scalar(value: int) -> ToolResult:
    try:
        text = "true" if value is True else "false" if value is False else str(value)
    except ValueError as error:
        raise _not_json(value) from error  # more digits than JSON readers take
    return ToolResult(content=text, structured=value)


def _check_numbers(value: Any) -> None:
    """Refuse infinities and endless integers."""
    for place, number in find_not_finite(value):
        at = f" at {path_of(place)}" if place else ""
        raise ValueError(f"{number}{at} is not a finite number")
    _check_digits(value)


def _has_many_digits(text: str) -> bool:
    """Whether there may be too many digits in a row; such a row covers one of the windows."""
    if len(text) < _MAX_DIGITS:
        return False
    half = _MAX_DIGITS // 2
    windows = (text[at : at + half] for at in range(0, len(text) - half + 1, half))
    return any(map(str.isdigit, windows)) and _MANY_DIGITS.search(text) is not None


def _check_digits(value: Any) -> None:
    if isinstance(value, int):
        str(value)  # refuses too many
    elif isinstance(value, dict):
        for item in cast("dict[str, Any]", value).values():
            _check_digits(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            _check_digits(item)


def _not_json(value: object) -> ToolOutputError:
    return ToolOutputError(
        f"The tool returned a value of type '{type(value).__name__}' that is not JSON."
    )


def _represent(value: object) -> str:
    """The raw value for the operator, cut where it is long."""
    shown = reprlib.Repr()
    shown.maxlevel, shown.maxstring, shown.maxother = 8, 2_000, 2_000
    shown.maxlist = shown.maxtuple = shown.maxset = shown.maxdict = 50
    return shown.repr(value)


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
