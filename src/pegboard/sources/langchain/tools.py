"""From a LangChain tool to one of ours."""

import inspect
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, cast, get_args

from pegboard.core.context import ToolContext
from pegboard.core.names import MAX_LENGTH, is_wire_name, wire_name
from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.errors import ToolSignatureError
from pegboard.sources.langchain.client import calling, result_of
from pegboard.tools import SchemaTool
from pegboard.tools.threads import POOL

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")


def adapt(candidate: Any, source: str = "", *, effect: Effect | None = None) -> Tool:
    """The tool that a LangChain tool is.

    Args:
        candidate: A `BaseTool`.
        source: The source that it belongs to; empty for a bare one.
        effect: What it does to the world, over what its `metadata` says.

    Raises:
        ToolSignatureError: It is something else of LangChain's, or its metadata is wrong.
    """
    from langchain_core.tools import BaseTool

    if inspect.isclass(candidate) or not isinstance(candidate, BaseTool):
        raise ToolSignatureError(
            f"{_shown(candidate)} is not a LangChain tool; give a BaseTool, the tools of a toolkit "
            "('*toolkit.get_tools()'), or '.as_tool()' of a runnable"
        )
    spec = _spec(candidate, source, effect)
    injected = _injected(candidate)
    for name, (annotation, is_needed) in sorted(injected.items()):
        if is_needed and not _is_call_id(name, annotation):
            reason = f"it needs '{name}' from a LangGraph agent, and there is none here"
            spec = spec.changed(unavailable=reason)
    is_whole_call = _needs_a_whole_call(candidate, injected=bool(injected))
    tool: Any = candidate
    in_a_thread = _in_a_thread(tool, spec.name)
    run_it = _async_first(tool, in_a_thread) if _is_async(tool) else in_a_thread

    async def run(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        given: dict[str, Any] = dict(arguments)
        if is_whole_call:
            call_id = ctx.call_id or "call"
            given = {"type": "tool_call", "id": call_id, "name": candidate.name, "args": given}
        config = {"metadata": {"pegboard_call_id": ctx.call_id, "pegboard_run_id": ctx.run_id}}
        with calling(spec.name, candidate.args_schema):
            output = await run_it(given, config)
        return result_of(spec.name, output)

    return SchemaTool(spec=spec, run=run)


def _spec(tool: Any, source: str, effect: Effect | None) -> ToolSpec:
    said: Mapping[str, Any] = tool.metadata or {}
    legible = _ILLEGAL.sub("_", tool.name).strip("_")[:MAX_LENGTH]
    plain = tool.name if is_wire_name(tool.name) else legible
    name = wire_name(source, tool.name) if source else plain
    tags = tuple(tool.tags or ()) + (("return_direct",) if tool.return_direct else ())
    return ToolSpec(
        name=name,
        action=tool.name,
        source=source,
        handler="langchain" if source else "",
        description=tool.description or f"The LangChain tool '{tool.name}'.",
        input_schema=_schema_of(tool),
        category=str(said.get("category", "general")),
        effect=effect or said.get("effect", Effect.WRITE),
        idempotent=said.get("idempotent") if isinstance(said.get("idempotent"), bool) else None,
        tags=tags,
    )


def _schema_of(tool: Any) -> dict[str, Any]:
    """What a model may give: without what is injected, and without texts said elsewhere.

    Raises:
        ToolSignatureError: Its arguments are of types that have no schema.
    """
    from langchain_core.utils.pydantic import model_json_schema

    try:
        shape: Any = tool.tool_call_schema
        if tool.args_schema is None and set(tool.args) == {"tool_input"}:
            shape = {"properties": tool.args, "required": ["tool_input"]}
        is_schema = isinstance(shape, dict)
        given: Any = cast("Any", shape) if is_schema else model_json_schema(shape)
    except (RuntimeError, ValueError, TypeError, NameError) as error:  # as both pydantics raise
        reason = str(error).partition("\n")[0]
        raise ToolSignatureError(
            f"the arguments of the LangChain tool '{tool.name}' have no JSON Schema: {reason}"
        ) from error
    schema = cast("dict[str, Any]", given)
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _injected(tool: Any) -> Mapping[str, tuple[Any, bool]]:
    """The arguments that a model never gives: annotation, and whether the tool needs them."""
    from langchain_core.tools.base import get_all_basemodel_annotations
    from langchain_core.utils.pydantic import get_fields

    found: dict[str, tuple[Any, bool]] = {}
    if not isinstance(tool.args_schema, dict):
        full, shown = tool.get_input_schema(), tool.tool_call_schema
        annotations: Mapping[str, Any] = get_all_basemodel_annotations(full)
        fields = cast("Mapping[str, Any]", get_fields(full))
        for name in annotations.keys() - get_all_basemodel_annotations(shown).keys():
            field = fields[name]
            is_needed = field.required if hasattr(field, "required") else field.is_required()
            found[name] = annotations[name], bool(is_needed)
    parameters = inspect.signature(_function_of(tool)).parameters
    # LangChain offers no other way to ask for what stands in the signature alone
    for name in getattr(tool, "_injected_args_keys", ()):
        if name in parameters and name not in found:
            parameter = parameters[name]
            found[name] = parameter.annotation, parameter.default is inspect.Parameter.empty
    return found


def _function_of(tool: Any) -> Any:
    """What runs in the end: the function that a tool is made of, or what a class writes."""
    given: Any = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    return given or (tool._arun if _overrides_arun(tool) else tool._run)  # noqa: SLF001 - what subclasses of BaseTool write


def _is_call_id(name: str, annotation: Any) -> bool:
    from langchain_core.tools import InjectedToolCallId

    marks = get_args(annotation)[1:]
    return name == "tool_call_id" or any(
        isinstance(mark, InjectedToolCallId) or mark is InjectedToolCallId for mark in marks
    )


def _needs_a_whole_call(tool: Any, *, injected: bool) -> bool:
    """Whether it must be called as a model calls it: then it answers with a message.

    Called with its arguments alone it gives its value as it is, without artifact and status.
    """
    handles = bool(tool.handle_tool_error or tool.handle_validation_error)
    return injected or handles or tool.response_format != "content"


def _is_async(tool: Any) -> bool:
    if hasattr(tool, "func") and hasattr(tool, "coroutine"):
        return tool.coroutine is not None
    return _overrides_arun(tool)


def _overrides_arun(tool: Any) -> bool:
    from langchain_core.tools import BaseTool

    kind: Any = tool.__class__
    return kind._arun is not vars(BaseTool)["_arun"]  # noqa: SLF001 - what subclasses of BaseTool write


def _async_first(tool: Any, in_a_thread: Any) -> Any:
    """Many classes write an `_arun` that only says that it is not implemented."""

    async def call(given: Any, config: Any) -> Any:
        try:
            return await tool.ainvoke(given, config)
        except NotImplementedError as error:
            if not _says_so_itself(tool, error):
                raise
        return await in_a_thread(given, config)

    return call


def _says_so_itself(tool: Any, error: NotImplementedError) -> bool:
    """Whether it is the `_arun` of a class that raised it, and nothing that it had begun."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    written: Any = inspect.unwrap(tool.__class__._arun)  # noqa: SLF001 - what subclasses of BaseTool write
    return trace is not None and trace.tb_frame.f_code is getattr(written, "__code__", None)


def _in_a_thread(tool: Any, owner: str) -> Any:
    async def call(given: Any, config: Any) -> Any:
        return await POOL.run(partial(tool.invoke, given, config), owner=owner)

    return call


def _shown(candidate: Any) -> str:
    kind = cast("type[Any]", candidate if inspect.isclass(candidate) else type(candidate))
    return f"{'the class' if kind is candidate else 'a'} {kind.__module__}.{kind.__qualname__}"
