"""A `ToolResult` as JSON text and back, with its typed error."""

import json
from dataclasses import asdict
from typing import Any, cast

from msgspec import convert, to_builtins

from pegboard.core.result import ERROR_KINDS, Artifact, Part, ResultMeta, ToolResult
from pegboard.errors import PegboardError, Problem, ToolFailed


def dump_result(result: ToolResult) -> str:
    """JSON text that `load_result` reads; bytes are base64.

    A structured value that is no JSON is stored as the JSON that msgspec makes of it.
    """
    data: dict[str, Any] = {
        "content": to_builtins(result.content),
        "structured": to_builtins(result.structured, enc_hook=str, str_keys=True),
        "artifacts": to_builtins(result.artifacts),
        "is_error": result.is_error,
        "meta": to_builtins(result.meta),
    }
    if result.error is not None:
        data["error"] = _dump_error(result.error)
    return json.dumps(data, separators=(",", ":"))


def load_result(text: str) -> ToolResult:
    """The result that `dump_result` wrote.

    Raises:
        ValueError: The text is not one of ours.
    """
    data = json.loads(text)
    error = data.get("error")
    return ToolResult(
        content=convert(data["content"], str | tuple[Part, ...]),
        structured=data["structured"],
        artifacts=convert(data["artifacts"], tuple[Artifact, ...]),
        is_error=data["is_error"],
        error=None if error is None else _load_error(error),
        meta=convert(data["meta"], ResultMeta),
    )


def _dump_error(error: PegboardError) -> dict[str, Any]:
    own = dict(vars(error))
    problems: tuple[Problem, ...] = own.pop("problems", ())
    data: dict[str, Any] = {
        "code": error.code,
        "message": error.message,
        "carried": {
            name: to_builtins(value, enc_hook=str, str_keys=True)
            for name, value in own.items()
            if value is not None and not name.startswith("_")
        },
    }
    if hasattr(error, "problems"):
        data["problems"] = [asdict(problem) for problem in problems]
    return data


def _load_error(data: dict[str, Any]) -> PegboardError:
    """The same class with the same sentence and fields; an unknown code becomes `ToolFailed`."""
    carried = cast("dict[str, Any]", data["carried"])
    kind = ERROR_KINDS.get(data["code"])
    if kind is None:
        return ToolFailed(data["message"], error_id=carried.get("error_id"))
    # Each class makes its sentence from other arguments; the sentence is there already.
    error = kind.__new__(kind, data["message"])
    for name, value in carried.items():
        setattr(error, name, _tuples(value))
    if "problems" in data:
        problems = tuple(Problem(**problem) for problem in data["problems"])
        setattr(error, "problems", problems)  # noqa: B010 - several classes have them
    return error


def _tuples(value: Any) -> Any:
    """Lists as the tuples that errors hold."""
    if not isinstance(value, list):
        return value
    return tuple(_tuples(item) for item in cast("list[Any]", value))
