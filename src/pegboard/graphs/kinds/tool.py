"""A node that calls a tool, then its fallbacks, then a substitute."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import convert, structs, to_builtins

from pegboard.core.context import Arguments, CallRetry, ToolContext
from pegboard.core.elicitation import Sampler
from pegboard.core.graph import Node, NodeState
from pegboard.core.result import CallTry, ToolResult
from pegboard.core.run import NodeRun
from pegboard.core.tool import Effect, JsonSchema, Tool
from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    BreakerOpen,
    CredentialMissing,
    IdempotencyInProgress,
    MCPConnectionError,
    PegboardError,
    SourceUnavailable,
    StoreUnavailable,
    ToolFailed,
    ToolNotFound,
    ToolOutputError,
    Unavailable,
    shorten_name,
)
from pegboard.execution.results.handles import load_result, value_of
from pegboard.execution.retry_rules import delay_before, did_nothing, is_repeatable, may_repeat
from pegboard.execution.wait_for_source import wait_for_source
from pegboard.graphs.call_progress import CallProgress
from pegboard.graphs.call_questions import take_questions
from pegboard.graphs.engine.node_results import as_failed, combine, from_tool_result
from pegboard.graphs.failover import Substitute
from pegboard.graphs.node_kind import NodeContext, SchemaOf
from pegboard.graphs.tool_host import CallerTools, find_tool

_UNAVAILABLE = frozenset(
    error.code
    for error in (BreakerOpen, MCPConnectionError, SourceUnavailable, ToolNotFound, Unavailable)
)
"""Codes of a tool that is missing or unavailable; only such a tool is substituted.

`StoreUnavailable` (the board could not store that the call starts) and `HostUnavailable` (a host
that the arguments name is unavailable) are none of them.
"""

_MAX_ACCOUNT = 100
_FIRST_PAUSE = 1.0
_MAX_PAUSE = 5.0
"""Seconds between calls during a store outage: as often as a run of such a store is taken up."""


ReadOutput = Callable[[NodeContext, ToolResult], Awaitable[Any]]
"""Makes the output of a node, any JSON value, from the result of a call."""


def _ignore(_run: NodeRun) -> None:
    pass


def _keep(ctx: ToolContext[Any]) -> ToolContext[Any]:
    return ctx


class ToolNode:
    """Calls go through the board's one pipeline, each under a key of its own."""

    name = "tool"
    fields = frozenset({"tool", "fallbacks", "retry", "config"})

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        if not node.tool:
            yield "tool", "tool_missing", "A node of kind 'tool' names the tool to call."
        if extra := sorted(node.config.keys() - {"account"}):
            message = f"The config of a tool has no '{extra[0][:60]}'; it takes `account`."
            yield "config", "config_unknown", message
        account = node.config.get("account", "x")
        if not isinstance(account, str) or not 0 < len(account) <= _MAX_ACCOUNT:
            message = f"An account is named by a text of at most {_MAX_ACCOUNT} characters."
            yield "config.account", "account_illegal", message

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:  # noqa: ARG002 - the tool declares it
        return None

    async def run(self, context: NodeContext) -> NodeRun:
        main = context.node.tool
        tries = [await _try_tool(context, main, None)]
        for number, fallback in enumerate(context.node.fallbacks, start=1):
            if not _may_try_another(tries[-1]):
                break
            _report_try(context, tries)
            label = f"+{number}"
            tries.append(
                await _try_tool(
                    context, fallback.tool, fallback.input, label=label, instead_of=main
                )
            )
        if (substitute := await _choose_substitute(context, tries)) is not None:
            _report_try(context, tries)
            tries.append(await _try_substitute(context, substitute, number=len(tries)))
        if len(tries) > 1:
            _report_try(context, tries)
        return _combine_tries(context.step, tries)


class StoreRetry:
    """Repeats calls that could not start, as in a store outage, for all calls of one node.

    It stops at the node's deadline; without one, after the time that one call may take. It also
    stops when the graph has stopped, but not when only the attempt ends because of the same outage:
    the failure would then be recorded as the node's outcome.

    Args:
        context: The node.
        repeatable: Whether calling the tool twice is as good as once.
    """

    def __init__(self, context: NodeContext, *, repeatable: bool) -> None:
        self._context = context
        self._is_repeatable = repeatable
        self._count = 0
        self._deadline = context.deadline
        timeout = context.board.environment.settings.call_timeout
        if self._deadline is None and timeout:
            self._deadline = context.monotonic() + timeout

    async def call(self, name: str, arguments: Arguments, ctx: ToolContext[Any]) -> ToolResult:
        """Call a tool, and again while the call cannot start.

        It cannot while the board cannot store that it starts, or while another server, which had
        the run before, still holds its key. Neither is a failure of the tool.
        """
        board = self._context.board
        result, pause = await board.call(name, arguments, self._with_new_key(ctx)), _FIRST_PAUSE
        while _has_not_started(result) and self._has_time_for(pause):
            await asyncio.sleep(pause)
            if self._context.has_stopped:
                break
            if isinstance(result.error, StoreUnavailable):
                pause = min(2 * pause, _MAX_PAUSE)
                self._count += 1
            result = await board.call(name, arguments, self._with_new_key(ctx))
        return result

    def _with_new_key(self, ctx: ToolContext[Any]) -> ToolContext[Any]:
        """The context with an idempotency key that no call which did not start holds.

        Such a call may leave its key reserved, as if it had been interrupted. A repeatable call
        takes the key over, and so has one key in all attempts.
        """
        if self._is_repeatable or not self._count:
            return ctx
        return structs.replace(ctx, idempotency_key=f"{ctx.idempotency_key}:w{self._count}")

    def _has_time_for(self, pause: float) -> bool:
        return self._deadline is None or self._context.monotonic() + pause < self._deadline


def _has_not_started(result: ToolResult) -> bool:
    error = result.error
    is_delayed = isinstance(error, StoreUnavailable | IdempotencyInProgress) and error.retryable
    return is_delayed and not result.meta.attempts


def _may_try_another(run: NodeRun) -> bool:
    """Never after a call that had an effect, or may have had one and is not repeatable."""
    return run.state is NodeState.FAILED and "outcome" not in (run.error or {})


def _report_try(context: NodeContext, tries: list[NodeRun]) -> None:
    """Report which tool was tried last, and why it failed."""
    run = tries[-1]
    reason = run.reason or str((run.error or {}).get("message", ""))
    context.report(structs.replace(run, id=f"{context.step}~{len(tries)}", reason=reason))


async def _choose_substitute(context: NodeContext, tries: Sequence[NodeRun]) -> Substitute | None:
    """The substitute for tools that are all unavailable; the same in every attempt of a run."""
    if not all(_is_unavailable(run) for run in tries):
        return None
    names = context.node.tools
    denied = [name for name, run in zip(names, tries, strict=False) if _is_denied(run)]

    def choose() -> Any:
        find_substitute = context.find_substitute
        found = find_substitute and find_substitute(names, context.principal, refused=denied)
        return to_builtins(found) if found else {}

    chosen = await context.compute_once("healing", choose)  # also that there is none
    return convert(chosen, Substitute) if chosen else None


def _is_unavailable(run: NodeRun) -> bool:
    error = run.error or {}
    is_unavailable = error.get("code") in _UNAVAILABLE or _is_denied(run)
    return run.state is NodeState.FAILED and is_unavailable and "outcome" not in error


def _is_denied(run: NodeRun) -> bool:
    return (run.error or {}).get("code") == AccessDenied.code


def input_for(node: Node, tool: str) -> Mapping[str, Any] | None:
    """What a node gives one of its tools; None for its own input."""
    fallbacks = (fallback.input for fallback in node.fallbacks if fallback.tool == tool)
    return None if tool == node.tool else next(fallbacks, None)


async def _try_substitute(context: NodeContext, substitute: Substitute, *, number: int) -> NodeRun:
    """Call a substitute with the input of the tool that it replaces."""
    instead_of = substitute.instead_of
    given, label = input_for(context.node, instead_of), f"+{number}"
    run = await _try_tool(context, substitute.tool, given, label=label, instead_of=instead_of)
    return structs.replace(
        run,
        tool=run.tool or substitute.tool,
        instead_of=instead_of,
        reason=run.reason or substitute.message,
    )


async def _try_tool(
    context: NodeContext,
    name: str,
    given: Mapping[str, Any] | None,
    *,
    label: str = "",
    instead_of: str = "",
) -> NodeRun:
    """Call one tool of the node; one that cannot be called has failed like one that refuses."""
    try:
        arguments = context.arguments(given)
    except PegboardError as error:
        return await _fail_once(context, name, error, label)
    progress = CallProgress(partial(_report_progress, context, name), context.monotonic)
    account = context.node.config.get("account", "")

    def adapt(ctx: ToolContext[Any]) -> ToolContext[Any]:
        followed = progress.follow(ctx)
        return structs.replace(followed, account=account) if account else followed

    try:
        return await call_tool(
            context, name, arguments, label=label, instead_of=instead_of, adapt=adapt
        )
    finally:
        progress.close()


def _report_progress(context: NodeContext, tool: str, data: Mapping[str, Any]) -> None:
    context.emit("tool_progress", {"tool": tool, **data})


async def call_tool(  # noqa: PLR0913 - a call, and what its caller makes of it
    context: NodeContext,
    name: str,
    arguments: Arguments,
    *,
    label: str = "",
    instead_of: str = "",
    read: ReadOutput | None = None,
    observe: Callable[[NodeRun], None] = _ignore,
    adapt: Callable[[ToolContext[Any]], ToolContext[Any]] = _keep,
    keys_reads: bool = True,
    place: Mapping[str, Any] | None = None,
    sampler: Sampler | None = None,
) -> NodeRun:
    """Call a tool once over all attempts of the run, after any approval that it needs.

    Args:
        context: The node, or the part of one, that calls.
        name: Name or id of the tool.
        arguments: Passed as they are.
        label: As for `run_once`.
        instead_of: The tool that this one replaces; empty for none.
        read: Makes the recorded output of a result; None records the whole value.
        observe: Called when the call starts and when it has ended, not in a replay.
        adapt: Makes the context of the call from that of the node.
        keys_reads: Whether calls that only read have an idempotency key too. Without one such a
            call costs half, and is made again if the process dies before it is recorded.
        place: What the events of its questions say of the call, beside the tool.
        sampler: The model that the tool may ask; None for none.
    """
    try:
        tool = await _find(context, name)
    except PegboardError as error:
        failure = await _fail_once(context, name, error, label)
        observe(failure)
        return failure
    called, repeatable = _callable_name(context, tool, name), is_repeatable(tool.spec)

    async def work(key: str) -> NodeRun:
        observe(NodeRun(id=context.step, state=NodeState.IN_PROGRESS, tool=tool.spec.name))
        ctx = adapt(context.call_context(key, instead_of=instead_of))
        ctx = take_questions(context, ctx, {"tool": tool.spec.name, **(place or {})}, sampler)
        if not keys_reads and tool.spec.effect is Effect.READ:
            ctx = structs.replace(ctx, idempotency_key=None)
        run = await _call_as_node(
            context, called, arguments, ctx, repeatable=repeatable, read=read or _whole_output
        )
        run = structs.replace(run, tool=tool.spec.name)
        observe(run)
        return run

    return await context.run_once(work, label=label, repeatable=repeatable)


async def _fail_once(context: NodeContext, name: str, error: PegboardError, label: str) -> NodeRun:
    """Record that a tool cannot be called.

    A later attempt then does not start with a tool that is back; and whether an interrupted call of
    a tool that is missing now is repeatable cannot be known.
    """
    failure = as_failed(context.step, error, tool=name)

    async def fail(_key: str) -> NodeRun:
        return failure

    return await context.run_once(fail, label=label, repeatable=False, acts=False)


async def _call_as_node(
    context: NodeContext,
    name: str,
    arguments: Arguments,
    ctx: ToolContext[Any],
    *,
    repeatable: bool,
    read: ReadOutput,
) -> NodeRun:
    """Call a tool; its result as that of the node."""
    started_at, started = context.now(), context.monotonic()
    result = await _call(context, name, arguments, ctx, repeatable=repeatable)
    output, lost = None, None
    if not result.is_error:
        try:
            output = await read(context, result)
        except ToolFailed as error:
            lost = error
    run = from_tool_result(
        context.step,
        result if lost is None else structs.replace(result, is_error=True, error=lost),
        output,
        attempts=result.meta.attempts,
        tries=result.meta.tries,
        started_at=started_at,
        duration_ms=round((context.monotonic() - started) * 1000, 3),
    )
    if isinstance(result.error, ApprovalRequired):  # the run calls again by itself
        reason = result.error.reason
        if not isinstance(result.error, CredentialMissing):
            reason = f"a person is asked: {reason}"
        return structs.replace(run, state=NodeState.WAITING, reason=reason)
    if not repeatable and (outcome := _outcome(result, lost)):
        return structs.replace(run, error={**(run.error or {}), "outcome": outcome})
    return run


def _outcome(result: ToolResult, lost: ToolFailed | None) -> str:
    """The effect of a call that failed, other than none: `done`, `unknown`, or empty."""
    error = result.error
    if lost is not None or isinstance(error, ToolOutputError):
        return "done"
    if isinstance(error, Unavailable) and result.meta.attempts and not did_nothing(error):
        return "unknown"
    return ""


def _combine_tries(step: str, tries: list[NodeRun]) -> NodeRun:
    """The last try, from the start of the first; with more than one, each is a part."""
    last = tries[-1]
    if len(tries) == 1:
        return last
    parts = [structs.replace(run, id=f"{step}~{n}", output=None) for n, run in enumerate(tries, 1)]
    return combine(
        step,
        parts,
        state=last.state,
        output=last.output,
        error=last.error,
        reason=last.reason,
        tool=last.tool,
        instead_of=last.instead_of,
    )


async def _find(context: NodeContext, name: str) -> Tool:
    board = CallerTools(context.board, context.principal)
    tool, missed = find_tool(board, name)
    if tool is None:  # a run that is taken up when a server starts may precede its tools
        await wait_for_source(board.environment, name, deadline=context.deadline)
        tool, missed = find_tool(board, name)
    if tool is None and (reason := board.environment.why_missing(name)):
        raise SourceUnavailable(f"'{shorten_name(name)}' is unavailable: {reason}")
    if tool is None or missed:
        raise ToolNotFound(name, board.nearest(name.partition("@")[0], context.principal))
    return tool


def _callable_name(context: NodeContext, tool: Tool, name: str) -> str:
    """The name by which to call a tool: an id may mean an older version than the bare name."""
    return name if context.board.find(name) is tool else tool.spec.name


async def _call(
    context: NodeContext,
    name: str,
    arguments: Arguments,
    ctx: ToolContext[Any],
    *,
    repeatable: bool,
) -> ToolResult:
    """Call a tool, and again as the node's retry policy says, under one key."""
    retry = context.node.retry
    store_retry = StoreRetry(context, repeatable=repeatable)
    tries: list[CallTry] = []

    async def call() -> ToolResult:
        started_at, started = context.now(), context.monotonic()
        result = await store_retry.call(name, arguments, ctx)
        tries.extend(
            result.meta.tries
            or (
                CallTry(
                    started_at=started_at,
                    duration_ms=round((context.monotonic() - started) * 1000, 3),
                    error_code="" if result.error is None else result.error.code,
                ),
            )
        )
        return result

    result = await call()
    attempts = result.meta.attempts
    for retries in range(retry.max_retries if retry is not None else 0):
        error = result.error
        if retry is None or error is None:
            break
        if not may_repeat(retry, error, repeatable=repeatable):
            break
        delay = delay_before(retry, retries, error, context.board.environment.random())
        if context.deadline is not None and context.monotonic() + delay >= context.deadline:
            break
        if ctx.on_retry is not None:
            ctx.on_retry(
                CallRetry(
                    call_id=result.meta.call_id,
                    tool=name,
                    attempt=retries + 2,
                    max_attempts=retry.max_retries + 1,
                    delay=delay,
                    error_code=error.code,
                )
            )
        await asyncio.sleep(delay)
        result = await call()
        attempts += result.meta.attempts
    known = tuple(tries) if len(tries) > 1 else ()
    meta = structs.replace(result.meta, attempts=attempts, tries=known)
    return structs.replace(result, meta=meta)


async def _whole_output(context: NodeContext, result: ToolResult) -> Any:
    """The whole value of a result that may be paged.

    Raises:
        ToolFailed: Only the first page is still stored.
    """
    meta = result.meta
    if meta.truncated:
        owner = context.principal.owner
        try:
            return value_of(
                await load_result(meta.handle, context.board.environment.results, owner)
            )
        except PegboardError as error:
            raise ToolFailed(
                f"'{context.step}' was done, but its output of {meta.total_bytes} bytes was not "
                "kept."
            ) from error
    if result.structured is not None:
        return result.structured
    return None if result.content == "null" else result.text
