"""Decoding of raw arguments to one JSON object."""

from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from pegboard.core.context import Arguments
from pegboard.errors import Problem, ToolArgumentError
from pegboard.schemas.problems import describe_value, malformation, not_an_object, path_of
from pegboard.schemas.strict_json import decode, not_finite_places


def encode_arguments(tool: str, raw: Arguments) -> str | bytes:
    """Encode the arguments as JSON text; None and the empty text mean no arguments.

    Raises:
        ToolArgumentError: A mapping holds what JSON cannot.
    """
    if isinstance(raw, (str, bytes)):
        return raw or "{}"
    if raw is None:
        return "{}"
    try:
        return to_json(raw, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        problem = malformation(f"the arguments are not JSON: {_reason(error)}")
        raise ToolArgumentError(tool, (problem,)) from error


def parse_arguments(tool: str, raw: Arguments) -> dict[str, Any]:
    """Decode the arguments to a new dict of JSON values, without NaN and infinities.

    Raises:
        ToolArgumentError: The text is not JSON, or not an object.
    """
    text = encode_arguments(tool, raw)
    if not text.strip():
        return {}
    document = _decode(tool, text)
    if isinstance(document, str) and document.lstrip().startswith("{"):
        document = _decode(tool, document)  # encoded twice, as models do
    if not isinstance(document, dict):
        raise ToolArgumentError(tool, (not_an_object(document),))
    return document  # pyright: ignore[reportUnknownVariableType]  # from_json gives str keys


def _decode(tool: str, text: str | bytes) -> Any:
    try:
        return decode(text)
    except ValueError as error:
        places = not_finite_places(text)
        problems = tuple(
            Problem(
                path=path_of(place),
                message=f"expected a finite number, found {describe_value(number)}",
            )
            for place, number in places[:20]
        )
        malformations = problems or (malformation(f"not valid JSON: {_reason(error)}"),)
        raise ToolArgumentError(tool, malformations) from error


def _reason(error: Exception) -> str:
    if "surrogates not allowed" in str(error):
        return "the text holds half of a surrogate pair"
    return str(error).partition("\n")[0].encode("utf-8", "backslashreplace").decode()[:200]
