"""Copies of results that are kept, so that nobody who was given one can change another's."""

from typing import Any, cast

from msgspec import structs

from pegboard.core.result import ToolResult
from pegboard.errors import PegboardError


def detach(result: ToolResult) -> ToolResult:
    """The same result, sharing nothing that can change; its error without stack and cause."""
    structured, error = result.structured, result.error
    if error is None and not isinstance(structured, (dict, list)):
        return result
    return structs.replace(
        result,
        structured=_copy(structured),
        error=None if error is None else without_traceback(error),
    )


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {key: _copy(item) for key, item in items}
    if isinstance(value, list):
        return [_copy(item) for item in cast("list[Any]", value)]
    return value


def without_traceback(error: PegboardError) -> PegboardError:
    """A copy of the error without the frames it came through, which hold the call's arguments."""
    kind = error.__class__
    try:
        copy = kind.__new__(kind, *error.args)
    except TypeError:  # it makes its instances of something else than its args
        copy = Exception.__new__(kind, *error.args)
    copy.args = error.args
    copy.__dict__.update(error.__dict__)
    return copy
