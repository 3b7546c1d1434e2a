"""The calls of one turn: parts of the agent's node, each a durable step with events of its own."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from msgspec import json, structs, to_builtins

from pegboard.assembly import CALL_AGENT, FIND_TOOLS, read_query
from pegboard.core.context import ToolContext
from pegboard.core.graph import NodeState
from pegboard.core.model_messages import ToolCall, ToolMessage
from pegboard.core.result import ToolResult
from pegboard.core.run import NodeRun
from pegboard.engines.agent import AgentSetup
from pegboard.engines.react.bounded_host import BoundedHost
from pegboard.engines.react.delegation import delegate
from pegboard.engines.react.model_sampler import ModelSampler
from pegboard.engines.react.repeated_writes import confirm_repeat, repeats_write
from pegboard.errors import AccessDenied, CredentialMissing, InvalidRequest, PegboardError
from pegboard.graphs.call_progress import CallProgress
from pegboard.graphs.engine.node_results import as_cancelled, as_failed, from_tool_result
from pegboard.graphs.engine.stop_signal import Stopped
from pegboard.graphs.kinds.tool import call_tool
from pegboard.graphs.node_kind import NodeContext, Part
from pegboard.graphs.tool_host import CallerTools, find_tool
from pegboard.registry.toolset import Delegation, Reply, Routed, Toolset
from pegboard.schemas.strict_json import decode

_SHOWN = 2_000
"""Characters of a result in the event of its call; the whole is in the conversation."""
_SHOWN_KEYS = ("call_id", "account", "handle", "total_bytes")
_MAX_ERROR = 4_000
"""Characters of the error of a call that the model is shown."""
_MAX_REPEATS = 3
_SETTLED = "The call was interrupted. A person has said that it took effect."
_STOPPED = frozenset({NodeState.CANCELLED, NodeState.UNKNOWN})
"""How a call ends that a stop of its graph has ended: without an effect, or perhaps with one."""
Refuse = Callable[[str, Toolset], str]


def _allow(_name: str, _toolset: Toolset) -> str:
    return ""


class Repetition:
    """Finds a model that makes the same call again and again, with the same result."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[str, int]] = {}

    def note(self, call: ToolCall, text: str) -> str:
        """Note the result of a call; what the model is told about it, empty for nothing."""
        key = _key_of(call)
        before, count = self._seen.get(key, ("", 0))
        count = count + 1 if before == text else 1
        self._seen[key] = (text, count)
        if count == 1:
            return ""
        return (
            f"\n\n(This call has been made {count} times with the same arguments and the same "
            "result. Do something else, or answer with what you know.)"
        )

    def is_stuck(self, calls: Sequence[ToolCall]) -> bool:
        """Whether each of these calls has been made too often already."""
        counts = [self._seen.get(_key_of(call), ("", 0))[1] for call in calls]
        return bool(counts) and min(counts) >= _MAX_REPEATS


async def run_calls(
    context: NodeContext,
    setup: AgentSetup,
    calls: Sequence[ToolCall],
    *,
    turn: int,
    max_result_bytes: int | None = None,
    refuse: Refuse = _allow,
) -> list[NodeRun]:
    """Make the calls of a turn, at once or one by one; how each ended, in their order.

    Args:
        context: The agent's node.
        setup: The agent's tools.
        calls: What to call.
        turn: The number of the turn.
        max_result_bytes: Bytes of each result that the model is shown; None for the board's limit.
        refuse: Why a tool may not be called now, by name; empty when it may.
    """
    parts: dict[str, Part] = {
        f"t{turn}-{index}": partial(_run_call, setup, call, turn, max_result_bytes, refuse)
        for index, call in enumerate(calls)
    }
    if setup.concurrent_tool_calls:
        most = setup.toolset.environment.settings.batch_concurrency
        host = BoundedHost(setup.toolset, most=most) if 0 < most < len(calls) else setup.toolset
        return await context.run_parts(parts, board=host)
    runs: list[NodeRun] = []
    for name, part in parts.items():
        runs += await context.run_parts({name: part}, board=setup.toolset)
    return runs


def refuse_call(call: ToolCall) -> ToolMessage:
    """What stands behind a call that is not made, because the model has to answer."""
    text = "This call was not made: the answer was due."
    return ToolMessage(call_id=call.id, name=call.name, text=text, is_error=True)


def as_message(call: ToolCall, run: NodeRun) -> ToolMessage:
    """What the model is told of a call."""
    if run.state is NodeState.COMPLETED:
        return ToolMessage(call_id=call.id, name=call.name, text=_output_text(run))
    error = run.error or {}
    text = str(error.get("message", "")) or run.reason or "It was cancelled."
    if error_id := error.get("error_id"):
        text = f"{text} (error id {error_id})"
    text = text if len(text) <= _MAX_ERROR else f"{text[:_MAX_ERROR]}…"
    return ToolMessage(
        call_id=call.id,
        name=call.name,
        text=text,
        is_error=True,
        is_unknown=run.state is NodeState.UNKNOWN or "outcome" in error,
    )


async def _run_call(
    setup: AgentSetup,
    call: ToolCall,
    turn: int,
    max_result_bytes: int | None,
    refuse: Refuse,
    context: NodeContext,
) -> NodeRun:
    """Run a call to its end, which is reported also where it was stopped or ran out of time."""
    report = _CallReport(context, call, turn)
    try:
        run = await _make_call(context, setup, report, max_result_bytes, refuse)
        is_reported = run.state not in _STOPPED or not context.has_stopped
        if not run.tool:  # no call made this outcome, and so none has reported it
            run, is_reported = _read_settled(report.call, run), False
    except PegboardError as error:
        run, is_reported = as_failed(context.step, error), False
    except Stopped as stop:
        run, is_reported = as_cancelled(context.step, str(stop)), not context.has_stopped
    if not is_reported:
        await context.report_once("end", partial(report, run))
    return run


async def _make_call(
    context: NodeContext,
    setup: AgentSetup,
    report: "_CallReport",
    max_result_bytes: int | None,
    refuse: Refuse,
) -> NodeRun:
    toolset, call = setup.toolset, report.call
    try:
        routed = await _route(context, toolset, call)
        if isinstance(routed, Reply):
            work = partial(_reply, context, call, routed, report)
            return await context.run_once(work, acts=False)
        if isinstance(routed, ToolCall):
            call = report.call = routed
        name = CALL_AGENT if isinstance(routed, Delegation) else call.name
        if reason := refuse(name, toolset):
            raise AccessDenied(name, reason)
    except PegboardError as error:
        failed = as_failed(context.step, error, tool=call.name)
        return await context.run_once(partial(_fail, failed, report), acts=False)
    if isinstance(routed, Delegation):
        return await _delegate(context, call, routed, report)
    if _is_unknown(call.name, CallerTools(toolset, context.principal)):
        work = partial(_call_unknown, context, toolset, call, report)
        return await context.run_once(work, acts=False)
    return await _call_once(context, setup, report, max_result_bytes)


async def _call_once(
    context: NodeContext, setup: AgentSetup, report: "_CallReport", max_result_bytes: int | None
) -> NodeRun:
    """Call a tool, once over all attempts; first ask whether a write is to be repeated."""
    call = report.call
    place = {"turn": report.turn, "call": call.id, "tool": call.name}
    rules = context.question_rules
    if setup.replaced_calls and rules is not None and repeats_write(context, call, setup):
        confirm = partial(confirm_repeat, context, rules, call, place)
        asked = await context.run_once(confirm, label="again", acts=False)
        if asked.state is not NodeState.COMPLETED:
            return asked
    sampler = ModelSampler(setup.model)
    progress = CallProgress(
        lambda data: context.emit("tool_progress", {**place, **data}), context.monotonic
    )

    def adapt(ctx: ToolContext[Any]) -> ToolContext[Any]:
        ctx = progress.follow(ctx)
        if max_result_bytes is not None:
            ctx = structs.replace(ctx, max_result_bytes=max_result_bytes)
        return ctx

    try:
        return await call_tool(
            context,
            call.name,
            call.arguments,  # read by the pipeline, which records what is malformed too
            read=partial(_read_for_model, sampler),
            observe=report,
            adapt=adapt,
            keys_reads=False,
            place=place,
            sampler=sampler,
        )
    finally:
        progress.close()


async def _route(context: NodeContext, toolset: Toolset, call: ToolCall) -> Routed:
    """Where a call leads: that of a meta-tool to the inner call, any other to itself."""
    meta_tool = toolset.find_meta_tool(call.name)
    if meta_tool is None:
        return call
    if call.name == FIND_TOOLS:
        toolset = await toolset.prepare_search(read_query(call), context.principal)
    return meta_tool.route(toolset, call, context.principal)


async def _reply(
    context: NodeContext, call: ToolCall, reply: Reply, report: Any, _key: str
) -> NodeRun:
    report(NodeRun(id=context.step, state=NodeState.IN_PROGRESS, tool=call.name))
    run = NodeRun(
        id=context.step, state=NodeState.COMPLETED, tool=call.name, output={"text": reply.text}
    )
    report(run)
    return run


async def _delegate(
    context: NodeContext, call: ToolCall, delegation: Delegation, report: Any
) -> NodeRun:
    """Let another agent do a task; its start and its end are reported once over all attempts."""

    def start() -> bool:
        report(NodeRun(id=context.step, state=NodeState.IN_PROGRESS, tool=call.name))
        return True

    async def end(_key: str) -> NodeRun:
        report(run)
        return run

    await context.compute_once("started", start)
    run = structs.replace(await delegate(context, delegation), tool=call.name)
    if run.state not in {NodeState.COMPLETED, NodeState.FAILED}:
        return run
    return await context.run_once(end, label="ended", acts=False)


def _is_unknown(name: str, toolset: CallerTools) -> bool:
    """Whether there is no such tool, and none is expected."""
    environment = toolset.environment
    return (
        find_tool(toolset, name)[0] is None
        and environment.pending_source(name) is None
        and not environment.why_missing(name)
    )


async def _call_unknown(
    context: NodeContext, toolset: Toolset, call: ToolCall, report: Any, key: str
) -> NodeRun:
    """Let a call of an unknown tool be answered and recorded as such."""
    result = await toolset.call(call.name, call.arguments, context.call_context(key))
    run = from_tool_result(context.step, result, None, tool=call.name)
    report(run)
    return run


async def _fail(failed: NodeRun, report: Any, _key: str) -> NodeRun:
    report(failed)
    return failed


def _read_arguments(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = decode(call.arguments or "{}")
    except ValueError as error:
        raise InvalidRequest(f"The arguments of '{call.name}' are no JSON: {error}.") from error
    if not isinstance(arguments, dict):
        raise InvalidRequest(f"The arguments of '{call.name}' are a JSON object with their names.")
    return cast("dict[str, Any]", arguments)


async def _read_for_model(
    sampler: ModelSampler, _context: NodeContext, result: ToolResult
) -> dict[str, Any]:
    """The part of a result that the model sees: the first page, which names the handle."""
    output: dict[str, Any] = {"text": result.text}
    if sampler.usage.requests:
        output["sampled"] = to_builtins(sampler.usage)
    if result.meta.call_id:
        output["call_id"] = result.meta.call_id
    if result.meta.account:
        output["account"] = result.meta.account
    if result.meta.truncated:
        output["handle"] = result.meta.handle
        output["total_bytes"] = result.meta.total_bytes
    return output


def _read_settled(call: ToolCall, run: NodeRun) -> NodeRun:
    """A call that ended by the answer of a person; the model sees their output as text."""
    run = structs.replace(run, tool=call.name)
    if run.state is not NodeState.COMPLETED:
        return run
    text = f"{_SETTLED} Its result is not known."
    if run.output is not None:
        given = run.output if isinstance(run.output, str) else json.encode(run.output).decode()
        text = f"{_SETTLED} They gave as its result: {given}"
    return structs.replace(run, output={"text": text})


def _output_of(run: NodeRun) -> Mapping[str, Any]:
    return {} if run.output is None else run.output


def _output_text(run: NodeRun) -> str:
    return str(_output_of(run).get("text", ""))


class _CallReport:
    """Reports the start and the end of a call, or for which approval or account it waits.

    Attributes:
        call: The call; a meta-tool may have routed it to another tool.
        turn: The number of its turn.
    """

    def __init__(self, context: NodeContext, call: ToolCall, turn: int) -> None:
        self._context = context
        self.call = call
        self.turn = turn

    def __call__(self, run: NodeRun) -> None:
        tool = run.tool or self.call.name
        data: dict[str, Any] = {"turn": self.turn, "call": self.call.id, "tool": tool}
        match run.state:
            case NodeState.IN_PROGRESS:
                arguments = _shown_arguments(self.call)
                self._context.emit("tool_started", {**data, "arguments": arguments})
            case NodeState.WAITING:
                self._report_wait(run, data)
            case _:
                self._report_end(run, data)

    def _report_wait(self, run: NodeRun, data: dict[str, Any]) -> None:
        error = run.error or {}
        data |= {
            "arguments": _shown_arguments(self.call),
            "approval": error.get("approval_id", ""),
            "reason": run.reason,
        }
        if error.get("code") == CredentialMissing.code:
            self._context.emit("credential_required", {**data, "link": error.get("link", "")})
        else:
            self._context.emit("approval_required", data)

    def _report_end(self, run: NodeRun, data: dict[str, Any]) -> None:
        output = _output_of(run)
        data |= {"state": run.state.value, "duration_ms": run.duration_ms}
        data |= {key: output[key] for key in _SHOWN_KEYS if key in output}
        if run.state in _STOPPED:  # the error of one that waited says only what it waited for
            data |= {"arguments": _shown_arguments(self.call), "text": run.reason}
        elif run.error is not None:
            data |= {"error_code": run.error.get("code", ""), "text": run.error.get("message", "")}
            data |= {key: run.error[key] for key in ("error_id", "account") if run.error.get(key)}
        else:
            text = _output_text(run)
            data |= {"text": text[:_SHOWN]} | ({"is_cut": True} if len(text) > _SHOWN else {})
        self._context.emit("tool_finished", data)
        if "handle" in output:
            cut = {key: data[key] for key in ("turn", "call", "tool", "handle", "total_bytes")}
            self._context.emit("compacted", {"layer": "result", **cut})


def _shown_arguments(call: ToolCall) -> Any:
    try:
        return _read_arguments(call)
    except InvalidRequest:
        return call.arguments


def _key_of(call: ToolCall) -> tuple[str, str]:
    return call.name, call.arguments
