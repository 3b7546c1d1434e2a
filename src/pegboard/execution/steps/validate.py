"""Validate: handles in the arguments are filled in, then they are read, coerced and checked."""

import re
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, cast

from pegboard.core.context import Arguments
from pegboard.core.ports.call_stores import ResultStore
from pegboard.core.result import RESULT_URI, ToolResult
from pegboard.core.tool import JsonSchema
from pegboard.errors import ToolArgumentError
from pegboard.execution.authorization import authorize
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.results.handles import FORMAT, load_result, value_of
from pegboard.tools.raw_arguments import parse_arguments

_SCHEME = "pegboard:"  # without slashes, which JSON may escape
_BYTES_SCHEME = _SCHEME.encode()
# JSON may also escape any character by its number
_NUMBER = "\\u00"
_BYTES_NUMBER = _NUMBER.encode()
_NUMBERED = re.compile(r"\\u00[367]")
_BYTES_NUMBERED = re.compile(_NUMBERED.pattern.encode())


def validate(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """Always there."""
    read, results, spec = target.read, environment.results, target.spec
    kept = handle_parameters(spec.input_schema)

    def refuse_denied(call: CallState) -> None:
        """Refuse a caller who may not call the tool before describing its arguments."""
        authorize(call, spec, environment)

    async def with_handles(call: CallState) -> ToolResult:
        raw = await fill_in_handles(spec.name, call.raw, results, call.owner, kept=kept)
        try:
            call.arguments = read(raw)
        except ToolArgumentError:
            refuse_denied(call)
            raise
        return await following(call)

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        if mentions_handle(call.raw):
            return with_handles(call)
        try:
            call.arguments = read(call.raw)
        except ToolArgumentError:
            refuse_denied(call)
            raise
        return following(call)

    return handle


def mentions_handle(raw: Arguments) -> bool:
    """Whether the arguments may contain a handle; cheap, and never wrong when it is False."""
    if isinstance(raw, str):
        return _SCHEME in raw or (_NUMBER in raw and _NUMBERED.search(raw) is not None)
    if isinstance(raw, bytes):
        return _BYTES_SCHEME in raw or (
            _BYTES_NUMBER in raw and _BYTES_NUMBERED.search(raw) is not None
        )
    try:
        return isinstance(raw, (dict, Mapping)) and _within(raw.values())
    except RecursionError:
        return True  # the validation reports it


def handle_parameters(schema: JsonSchema) -> frozenset[str]:
    """Parameters that take a handle itself: those with the format `pegboard-handle`."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    return frozenset(
        name
        for name, node in properties.items()
        if isinstance(node, Mapping) and cast("Mapping[str, Any]", node).get("format") == FORMAT
    )


async def fill_in_handles(
    tool: str,
    raw: Arguments,
    results: ResultStore,
    owner: str,
    *,
    kept: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """The arguments, with each text that is a handle replaced by the stored value.

    JSON becomes its value, text stays text, and other media become base64 text.

    Args:
        tool: The name of the tool, for errors.
        raw: The arguments as they arrived.
        results: The store of results.
        owner: The caller, who must own the results.
        kept: Parameters that take the handle itself.

    Raises:
        HandleNotFound: Unknown, expired or owned by another caller.
    """
    arguments = parse_arguments(tool, raw)
    return {
        name: value if name in kept else await _fill(value, results, owner)
        for name, value in arguments.items()
    }


def _within(values: Iterable[Any]) -> bool:
    for value in values:
        if isinstance(value, str):
            if value.startswith(RESULT_URI):
                return True
        elif isinstance(value, Mapping):
            if _within(cast("Mapping[str, Any]", value).values()):
                return True
        elif isinstance(value, (list, tuple)) and _within(cast("list[Any]", value)):
            return True
    return False


async def _fill(value: Any, results: ResultStore, owner: str) -> Any:
    if isinstance(value, str):
        if not value.startswith(RESULT_URI):
            return value
        return value_of(await load_result(value, results, owner))
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: await _fill(item, results, owner) for key, item in items}
    if isinstance(value, list):
        return [await _fill(item, results, owner) for item in cast("list[Any]", value)]
    return value
