"""Arguments as they arrive, made into one JSON document."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

from pegboard.core.context import Arguments
from pegboard.errors import ToolArgumentError
from pegboard.tools.problems import found, malformed, not_an_object


def encoded(tool: str, raw: Arguments) -> str | bytes:
    """The arguments as JSON text; nothing and the empty text mean no arguments.

    Raises:
        ToolArgumentError: A mapping holds what JSON cannot.
    """
    if isinstance(raw, (str, bytes)):
        return raw or "{}"
    if raw is None:
        return "{}"
    try:
        return to_json(raw, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError, UnicodeError, RecursionError) as error:
        problem = malformed(f"the arguments are not JSON: {error}")
        raise ToolArgumentError(tool, (problem,)) from error


def parsed(tool: str, raw: Arguments) -> dict[str, Any]:
    """The arguments as one new dict of JSON values, without NaN and infinities.

    Raises:
        ToolArgumentError: The text is not JSON, or not an object.
    """
    text = encoded(tool, raw)
    try:
        document = from_json(text, allow_inf_nan=False)
        if isinstance(document, str) and document.lstrip().startswith("{"):
            document = from_json(document, allow_inf_nan=False)  # encoded twice, as models do
    except (ValueError, UnicodeError) as error:
        raise ToolArgumentError(tool, (malformed(f"not valid JSON: {error}"),)) from error
    if not isinstance(document, dict):
        raise ToolArgumentError(tool, (not_an_object(document),))
    return document  # pyright: ignore[reportUnknownVariableType]  # from_json gives str keys


def refuse(tool: str, raw: object) -> ToolArgumentError:
    """The error for arguments of a type that no door should send."""
    message = f"expected a mapping, JSON text or bytes, found {found(raw)}"
    return ToolArgumentError(tool, (malformed(message),))


def is_arguments(raw: object) -> bool:
    """Whether this may be a call's arguments at all."""
    return raw is None or isinstance(raw, (Mapping, str, bytes))
