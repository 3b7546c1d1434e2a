"""Detached copies of stored results, so that no caller can change another's result."""

from typing import Any, cast

from msgspec import structs

from pegboard.core.result import ToolResult
from pegboard.errors import PegboardError


def detach(result: ToolResult) -> ToolResult:
    """A copy of a result that shares nothing mutable; its error has no stack and no cause."""
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
    """A copy of the error without its traceback, whose frames hold the arguments of the call."""
    kind = error.__class__
    try:
        copy = kind.__new__(kind, *error.args)
    except TypeError:  # it makes its instances of something else than its args
        copy = Exception.__new__(kind, *error.args)
    copy.args = error.args
    copy.__dict__.update(error.__dict__)
    return copy
