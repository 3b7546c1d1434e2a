"""Finds out which request an invalid JSON-RPC message answers, and what is wrong with it."""

import itertools
import json
import re
from dataclasses import dataclass
from typing import Any, cast

import mcp_types as types
from mcp.shared.dispatcher import as_request_id
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

PREFIX = "Failed to parse"
"""How the MCP library begins its message about an answer that it cannot read; ours too."""

_MAX_TEXT = 200
_MAX_BRACKETS = 100


@dataclass(frozen=True, slots=True)
class MalformedMessage:
    """Takes the place of a message that cannot be read."""

    text: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialAnswer:
    """What can be read of an invalid answer.

    Attributes:
        id: The request that it answers; None if it does not say.
        problem: What is wrong, without the value; empty when the answer is valid.
    """

    id: types.RequestId | None = None
    problem: str = ""


def read_answer(text: bytes) -> PartialAnswer:
    """Read as much as possible: also a message that was cut off has the id of its request."""
    try:
        return _partial_answer(from_json(text))
    except ValueError:
        pass
    decoded = text.decode(errors="replace")
    try:
        message = json.loads(decoded)
        problem = ""
    except json.JSONDecodeError as error:
        message = _parse_partial(decoded[: error.pos])
        problem = f"it is not JSON from character {error.pos + 1} on"
    except RecursionError:
        message, problem = _parse_partial(_cut_before_depth(decoded)), "it is nested too deeply"
    return _partial_answer(message, problem or "it is not valid UTF-8")


def _partial_answer(message: Any, problem: str = "") -> PartialAnswer:
    if isinstance(message, list):
        items = cast("list[Any]", message)
        message = items[0] if items else None
        problem = problem or "it is a batch of messages"
    if not isinstance(message, dict):
        return PartialAnswer(problem=problem or "it is not an object")
    found = cast("dict[str, Any]", message)
    if "method" in found:
        return PartialAnswer(problem=problem or "it is not a response")
    return PartialAnswer(
        id=as_request_id(found.get("id")), problem=problem or answer_problem(found)
    )


def error_reply(number: types.RequestId, problem: str) -> types.JSONRPCError:
    """The error for the request that waits."""
    error = types.ErrorData(code=types.PARSE_ERROR, message=PREFIX, data=problem[:_MAX_TEXT])
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=error)


def answer_problem(answer: dict[str, Any]) -> str:
    """Why an object is not a JSON-RPC answer; empty when it is one."""
    if "error" in answer:
        return _mismatch(types.JSONRPCError, answer)
    if "result" in answer:
        return _mismatch(types.JSONRPCResponse, answer)
    return "it has neither 'result' nor 'error'"


def describe_first_error(error: ValidationError) -> str:
    """The path and reason of the first fault, without the value; empty for the whole message."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"at '{place[:_MAX_TEXT]}': {first['msg'][:_MAX_TEXT]}" if place else ""


def _mismatch(kind: type[BaseModel], answer: dict[str, Any]) -> str:
    try:
        kind.model_validate(answer, by_name=False)
    except ValidationError as error:
        return describe_first_error(error)
    return ""


def _cut_before_depth(text: str) -> str:
    """The text before the first bracket that may be nested too deeply."""
    found = re.finditer(r"[\[{]", text)
    last = next(itertools.islice(found, _MAX_BRACKETS, None), None)
    return text if last is None else text[: last.start()]


def _parse_partial(text: str) -> Any:
    try:
        return from_json(text, allow_partial=True)
    except ValueError:
        return None
