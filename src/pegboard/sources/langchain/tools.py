"""Adapts LangChain tools."""

import inspect
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.context import ToolContext
from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.core.wire_names import MAX_LENGTH, is_wire_name, wire_name
from pegboard.errors import ToolSignatureError
from pegboard.sources.langchain.client import result_of, translate_call_errors
from pegboard.sources.langchain.tool_arguments import (
    find_injected,
    has_overridden_arun,
    schema_of,
    unavailable_reason,
)
from pegboard.tools import SchemaTool

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")


def adapt(candidate: Any, source: str = "", *, effect: Effect | None = None) -> Tool:
    """Adapt a LangChain tool.

    Args:
        candidate: A `BaseTool`.
        source: Its source; empty for none.
        effect: Its effect, instead of the one in its `metadata`.

    Raises:
        ToolSignatureError: It is not a LangChain tool, or its metadata is invalid.
    """
    from langchain_core.tools import BaseTool

    if inspect.isclass(candidate) or not isinstance(candidate, BaseTool):
        raise ToolSignatureError(
            f"{_describe(candidate)} is not a LangChain tool; give a BaseTool, the tools of a "
            "toolkit ('*toolkit.get_tools()'), or '.as_tool()' of a runnable"
        )
    spec = _spec(candidate, source, effect)
    problem = unavailable_reason(candidate)
    if problem:
        spec = spec.replace(unavailable=problem)
    is_whole_call = _needs_a_whole_call(candidate, injected=bool(find_injected(candidate)))
    tool: Any = candidate
    in_a_thread = _in_a_thread(tool, spec.name)
    run_it = _async_first(tool, in_a_thread) if _is_async(tool) else in_a_thread

    async def run(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        given: dict[str, Any] = dict(arguments)
        if is_whole_call:
            call_id = ctx.call_id or "call"
            given = {"type": "tool_call", "id": call_id, "name": candidate.name, "args": given}
        config = {"metadata": {"pegboard_call_id": ctx.call_id, "pegboard_run_id": ctx.run_id}}
        with translate_call_errors(spec.name, candidate.args_schema):
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
        target=f"langchain:{plain}#{id(tool)}",
        description=tool.description or f"The LangChain tool '{tool.name}'.",
        input_schema=schema_of(tool),
        category=str(said.get("category", "general")),
        effect=effect or said.get("effect", Effect.WRITE),
        idempotent=said.get("idempotent") if isinstance(said.get("idempotent"), bool) else None,
        tags=tags,
    )


def _needs_a_whole_call(tool: Any, *, injected: bool) -> bool:
    """Whether to call it with a whole tool call, which it answers with a message.

    Called with its arguments alone it returns its value, without artifact and status.
    """
    handles = bool(tool.handle_tool_error or tool.handle_validation_error)
    return injected or handles or tool.response_format != "content"


def _is_async(tool: Any) -> bool:
    if hasattr(tool, "func") and hasattr(tool, "coroutine"):
        return tool.coroutine is not None
    return has_overridden_arun(tool)


def _async_first(tool: Any, in_a_thread: Any) -> Any:
    """Call it async, or in a thread if its `_arun` is not implemented."""

    async def call(given: Any, config: Any) -> Any:
        try:
            return await tool.ainvoke(given, config)
        except NotImplementedError as error:
            if not _is_raised_by_arun(tool, error):
                raise
        return await in_a_thread(given, config)

    return call


def _is_raised_by_arun(tool: Any, error: NotImplementedError) -> bool:
    """Whether `_arun` itself raised the error, and not something that it called."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    written: Any = inspect.unwrap(tool.__class__._arun)  # noqa: SLF001 - what subclasses of BaseTool write
    return trace is not None and trace.tb_frame.f_code is getattr(written, "__code__", None)


def _in_a_thread(tool: Any, owner: str) -> Any:
    async def call(given: Any, config: Any) -> Any:
        return await POOL.run(partial(tool.invoke, given, config), owner=owner)

    return call


def _describe(candidate: Any) -> str:
    kind = cast("type[Any]", candidate if inspect.isclass(candidate) else type(candidate))
    return f"{'the class' if kind is candidate else 'a'} {kind.__module__}.{kind.__qualname__}"
