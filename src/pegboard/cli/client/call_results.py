"""A call over HTTP: its arguments, and the result in its answer."""

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pegboard.cli.client.port import Answer
from pegboard.errors import InvalidRequest, PegboardError

if TYPE_CHECKING:
    import httpx2

    from pegboard.core.context import Arguments
    from pegboard.core.result import ToolResult


def to_object(arguments: "Arguments") -> Answer:
    """The arguments as a JSON object.

    Raises:
        InvalidRequest: They are not one.
    """
    value: Any = arguments or {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise InvalidRequest(f"The arguments are not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidRequest("The arguments are not a JSON object.")
    return value  # pyright: ignore[reportUnknownVariableType]  # JSON objects have text as keys


def to_result(answer: Answer) -> "ToolResult":
    """The result in an answer of `POST /execute`."""
    from msgspec import ValidationError, convert
    from pydantic_core import to_json

    from pegboard.core.result import Artifact, Part, ToolResult

    output, meta = answer["output"], answer["metadata"]
    artifacts = convert(meta.get("artifacts", []), tuple[Artifact, ...])
    content: str | tuple[Part, ...]
    structured = output
    content = output if isinstance(output, str) else to_json(output).decode()
    if isinstance(output, list) and output:
        with suppress(ValidationError):  # it is a structured value
            content, structured = convert(output, tuple[Part, ...]), None
    return ToolResult(
        content=content,
        structured=structured,
        artifacts=artifacts,
        meta=_to_meta(answer),
    )


def to_failure(error: PegboardError, answer: Answer) -> "ToolResult":
    """The result of a call that a problem document reports."""
    from pegboard.core.result import ToolResult
    from pegboard.execution.errors_for_readers import describe_for_model

    return ToolResult(
        content=describe_for_model(error), is_error=True, error=error, meta=_to_meta(answer)
    )


def _to_meta(answer: Answer) -> Any:
    from msgspec import convert

    from pegboard.core.result import ResultMeta

    said = answer.get("metadata", {})
    renamed = {"tokens": said.get("tokens_consumed"), "model": said.get("model_used", "")}
    took = {"duration_ms": answer.get("execution_time_ms", 0.0)}
    return convert({**said, **renamed, **took}, ResultMeta)


def read_object(response: "httpx2.Response") -> Answer:
    """The body of an answer, if it is a JSON object; else an empty one."""
    try:
        answer: Any = response.json()
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}  # pyright: ignore[reportUnknownVariableType]  # JSON objects have text as keys
