"""A node that calls a tool, and other tools when that one fails."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import structs

from pegboard.core.context import ToolContext
from pegboard.core.graph import Node, NodeState
from pegboard.core.result import ToolResult
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema, Tool
from pegboard.errors import (
    ApprovalRequired,
    PegboardError,
    SourceUnavailable,
    ToolFailed,
    ToolNotFound,
    ToolOutputError,
    Unavailable,
    shorten_name,
)
from pegboard.execution.results.handles import find, value_of
from pegboard.execution.retry_rules import delay_before, did_nothing, is_repeatable, may_repeat
from pegboard.execution.wait_for_source import wait_for_source
from pegboard.graphs.engine.durable_step import perform
from pegboard.graphs.engine.failover import Substitute, input_for, stand_in
from pegboard.graphs.engine.node_execution import NodeExecution
from pegboard.graphs.engine.node_results import answered, failed, whole
from pegboard.graphs.engine.store_retry import StoreRetry
from pegboard.graphs.kinds.protocol import SchemaOf
from pegboard.graphs.tool_host import find_tool


class ToolNode:
    """Calls go through the board's one pipeline, each under a key of its own."""

    name = "tool"
    fields = frozenset({"tool", "fallbacks", "retry"})

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        if not node.tool:
            yield "tool", "tool_missing", "A node of kind 'tool' names the tool to call."

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:  # noqa: ARG002 - the tool says it
        return None

    async def run(self, doing: NodeExecution) -> NodeRun:
        tries = [await _tried(doing, doing.node.tool, None)]
        for number, fallback in enumerate(doing.node.fallbacks, start=1):
            if not _may_try_another(tries[-1]):
                break
            _tell_try(doing, tries)
            tries.append(
                await _tried(
                    doing,
                    fallback.tool,
                    fallback.input,
                    label=f"+{number}",
                    instead_of=doing.node.tool,
                )
            )
        if (healed := await stand_in(doing, tries)) is not None:
            _tell_try(doing, tries)
            tries.append(await _stood_in(doing, healed, number=len(tries)))
        if len(tries) > 1:
            _tell_try(doing, tries)
        return _together(doing.step, tries)


def _may_try_another(run: NodeRun) -> bool:
    """Never after what took effect, or may have and cannot be repeated."""
    return run.state is NodeState.FAILED and "outcome" not in (run.error or {})


def _tell_try(doing: NodeExecution, tries: list[NodeRun]) -> None:
    """Which tool was tried last, and why it was left."""
    run = tries[-1]
    reason = run.reason or str((run.error or {}).get("message", ""))
    doing.session.tell(structs.replace(run, id=f"{doing.step}~{len(tries)}", reason=reason))


async def _stood_in(doing: NodeExecution, healed: Substitute, *, number: int) -> NodeRun:
    """Call what stands in for the chain, with what the tool would have got whose place it takes."""
    given = input_for(doing.node, healed.instead_of)
    run = await _tried(doing, healed.tool, given, label=f"+{number}", instead_of=healed.instead_of)
    return structs.replace(
        run,
        tool=run.tool or healed.tool,
        instead_of=healed.instead_of,
        reason=run.reason or healed.told,
    )


async def _tried(
    doing: NodeExecution,
    name: str,
    given: Mapping[str, Any] | None,
    *,
    label: str = "",
    instead_of: str = "",
) -> NodeRun:
    """Call one tool of the chain; one that cannot be called has failed like one that says no."""
    try:
        arguments = doing.arguments(given)
        tool = await _tool(doing, name)
    except PegboardError as error:
        absent = failed(doing.step, error, tool=name)

        async def nothing(_key: str) -> NodeRun:
            return absent

        # recorded, so that a later play does not begin with a tool that has come back meanwhile;
        # and what was cut off of it before it went, nobody knows how to repeat
        return await perform(doing, nothing, label=label, repeatable=False, acts=False)
    called, repeatable = _called_as(doing, tool, name), is_repeatable(tool.spec)

    async def work(key: str) -> NodeRun:
        ctx = doing.session.context(key, doing.deadline, instead_of=instead_of)
        run = await _answered(doing, called, arguments, ctx, repeatable=repeatable)
        return structs.replace(run, tool=tool.spec.name)

    return await perform(doing, work, label=label, repeatable=repeatable)


async def _answered(
    doing: NodeExecution,
    name: str,
    arguments: Mapping[str, Any],
    ctx: ToolContext[Any],
    *,
    repeatable: bool,
) -> NodeRun:
    """Call a tool, and say how that ended."""
    session = doing.session
    began_at, began = session.now(), session.monotonic()
    result = await _called(doing, name, arguments, ctx, repeatable=repeatable)
    output, lost = None, None
    if not result.is_error:
        try:
            output = await _output(doing, result)
        except ToolFailed as error:
            lost = error
    run = answered(
        doing.step,
        result if lost is None else structs.replace(result, is_error=True, error=lost),
        output,
        attempts=result.meta.attempts,
        started_at=began_at,
        duration_ms=round((session.monotonic() - began) * 1000, 3),
    )
    if isinstance(result.error, ApprovalRequired):
        return structs.replace(run, state=NodeState.WAITING, reason=_asks(result.error))
    if not repeatable and (outcome := _outcome(result, lost)):
        return structs.replace(run, error={**(run.error or {}), "outcome": outcome})
    return run


def _outcome(result: ToolResult, lost: ToolFailed | None) -> str:
    """What became of a call that failed, other than nothing: `done`, `unknown`, or empty."""
    error = result.error
    if lost is not None or isinstance(error, ToolOutputError):
        return "done"
    if isinstance(error, Unavailable) and result.meta.attempts and not did_nothing(error):
        return "unknown"
    return ""


def _together(step: str, tries: list[NodeRun]) -> NodeRun:
    """The last try, from when the first one began; with more than one, each is a part of it."""
    last = tries[-1]
    if len(tries) == 1:
        return last
    parts = [structs.replace(run, id=f"{step}~{n}", output=None) for n, run in enumerate(tries, 1)]
    return whole(
        step,
        parts,
        state=last.state,
        output=last.output,
        error=last.error,
        reason=last.reason,
        tool=last.tool,
        instead_of=last.instead_of,
    )


def _asks(error: ApprovalRequired) -> str:
    """For who sees the run, which makes the call again by itself."""
    return f"a person is asked: {error.reason}"


async def _tool(doing: NodeExecution, name: str) -> Tool:
    board, principal = doing.session.board, doing.session.ctx.principal
    tool, missed = find_tool(board, name)
    if tool is None:  # a run that is taken up when a server starts may be there before its tools
        await wait_for_source(board.kit, name, deadline=doing.deadline)
        tool, missed = find_tool(board, name)
    if tool is None and (reason := board.kit.why_absent(name)):
        raise SourceUnavailable(f"'{shorten_name(name)}' is not there now: {reason}")
    if tool is None or missed:
        raise ToolNotFound(name, board.nearest(name.partition("@")[0], principal))
    return tool


def _called_as(doing: NodeExecution, tool: Tool, name: str) -> str:
    """What the board calls a tool: an id may mean an older version than its bare name does."""
    return name if doing.session.board.find(name) is tool else tool.spec.name


async def _called(
    doing: NodeExecution,
    name: str,
    arguments: Mapping[str, Any],
    ctx: ToolContext[Any],
    *,
    repeatable: bool,
) -> ToolResult:
    """Call it, and call it again as the node's own policy says; under one key."""
    session, retry = doing.session, doing.node.retry
    patience = StoreRetry(doing, repeatable=repeatable)
    result = await patience.call(name, arguments, ctx)
    attempts = result.meta.attempts
    for retries in range(retry.max_retries if retry is not None else 0):
        error = result.error
        if retry is None or error is None:
            break
        if not may_repeat(retry, error, repeatable=repeatable):
            break
        delay = delay_before(retry, retries, error, session.board.kit.random())
        if doing.deadline is not None and session.monotonic() + delay >= doing.deadline:
            break
        await asyncio.sleep(delay)
        result = await patience.call(name, arguments, ctx)
        attempts += result.meta.attempts
    return structs.replace(result, meta=structs.replace(result.meta, attempts=attempts))


async def _output(doing: NodeExecution, result: ToolResult) -> Any:
    """The whole value: other nodes get no first page of it.

    Raises:
        ToolFailed: Only a page is left of it.
    """
    meta = result.meta
    if meta.truncated:
        owner = doing.session.ctx.principal.owner
        try:
            return value_of(await find(meta.handle, doing.session.board.kit.results, owner))
        except PegboardError as error:
            raise ToolFailed(
                f"'{doing.step}' was done, but its output of {meta.total_bytes} bytes was not kept."
            ) from error
    if result.structured is not None:
        return result.structured
    return None if result.content == "null" else result.text
