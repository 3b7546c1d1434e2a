"""How a node is run, whatever its kind: once, for each item of a list, or in rounds."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from pegboard.core.graph import ForEach, NodeState, Repeat
from pegboard.core.run import NodeRun
from pegboard.errors import InvalidRequest, PegboardError, ToolFailed, ToolTimeout
from pegboard.execution.errors_for_readers import translated
from pegboard.graphs.engine.interrupts import Stopped, StoreFailed
from pegboard.graphs.engine.node_execution import NodeExecution
from pegboard.graphs.engine.node_results import cancelled, ended_at, failed, whole
from pegboard.graphs.engine.task_group import RunTaskGroup
from pegboard.graphs.expressions.conditions import holds

MOST_ITEMS = 100_000
_ENDED = (NodeState.CANCELLED, NodeState.UNKNOWN)


async def run_node(doing: NodeExecution) -> NodeRun:
    """Run a node to its end; a failure is an end too."""
    # a time that was up is noted: a later play, which has time, must not go another way
    late = doing.deadline is not None
    if late and (known := doing.noted_failure()) is not None:
        return known
    try:
        return await _shaped(doing)
    except ToolTimeout as error:
        run = failed(doing.step, error)
        return await doing.note_failure(run) if late else run
    except PegboardError as error:
        return failed(doing.step, error)
    except Stopped as stop:
        return cancelled(doing.step, str(stop))


async def _shaped(doing: NodeExecution) -> NodeRun:
    node = doing.node
    if node.for_each is not None:
        return await _each(doing, node.for_each)
    if node.repeat is not None:
        return await _rounds(doing, node.repeat)
    return await _by_kind(doing)


async def _each(doing: NodeExecution, each: ForEach) -> NodeRun:
    items = _list(doing.value(each.items))
    at_once = len(items) if doing.node.kind == "value" else each.concurrency
    parts = [
        doing.part(
            f"[{i}]", f"[{i}]", since=doing.since if i < at_once else None, item=item, index=i
        )
        for i, item in enumerate(items)
    ]
    runs: dict[str, NodeRun] = {}
    go_on = True
    async with RunTaskGroup[NodeRun](doing.session, doing.inner) as crew:
        try:
            waiting = iter(parts)
            while go_on or crew:
                while go_on and len(crew) < each.concurrency:
                    part = next(waiting, None)
                    if part is None:
                        break
                    crew.spawn(part.step, _item(part))
                if not crew:
                    break
                for run in await crew.next():
                    runs[run.id] = run
                    doing.session.tell(run)
                    stops = run.state is NodeState.FAILED and each.on_failure == "fail"
                    go_on = go_on and not stops and run.state not in _ENDED
        except StoreFailed:
            doing.scope.break_off()
            await crew.drained()
            raise
    return _together(doing.step, [runs[part.step] for part in parts if part.step in runs], each)


async def _item(part: NodeExecution) -> NodeRun:
    try:
        repeat = part.node.repeat
        return await (_by_kind(part) if repeat is None else _rounds(part, repeat))
    except PegboardError as error:
        return failed(part.step, error)
    except Stopped as stop:
        return cancelled(part.step, str(stop))


def _together(step: str, runs: Sequence[NodeRun], each: ForEach) -> NodeRun:
    for state in _ENDED:
        if ended := [run for run in runs if run.state is state]:
            return whole(step, runs, state=state, reason=ended[0].reason)
    wrong = [run for run in runs if run.state is NodeState.FAILED]
    if wrong and each.on_failure == "fail":
        return whole(step, runs, state=NodeState.FAILED, error=wrong[0].error)
    return whole(step, runs, state=NodeState.COMPLETED, output=[run.output for run in runs])


async def _rounds(doing: NodeExecution, repeat: Repeat) -> NodeRun:
    runs: list[NodeRun] = []
    output: Any = None
    since = doing.since
    for number in range(repeat.most):
        part = doing.part(f"#{number}", f"#{number}", since=since, index=number, output=output)
        run = await _by_kind(part)
        runs.append(run)
        doing.session.tell(run)
        if run.state is not NodeState.COMPLETED:
            return whole(doing.step, runs, state=run.state, error=run.error, reason=run.reason)
        output, since = run.output, ended_at(run, since)
        if holds(repeat.until, {**part.data, "output": output}):
            return whole(doing.step, runs, state=NodeState.COMPLETED, output=output)
    error = ToolFailed(f"'{repeat.until}' did not hold within {repeat.most} rounds.")
    return whole(doing.step, runs, state=NodeState.FAILED, error=failed("", error).error)


async def _by_kind(doing: NodeExecution) -> NodeRun:
    kind = doing.session.kinds.get(doing.node.kind)
    if kind is None:
        raise InvalidRequest(f"There is no node kind '{doing.node.kind}'.")
    try:
        return await kind.run(doing)
    except (PegboardError, asyncio.CancelledError):
        raise
    except Exception as error:
        raise translated(doing.step, error) from error


def _list(items: Any) -> list[Any]:
    if not isinstance(items, (list, tuple)):
        raise InvalidRequest("for_each.items is not a list.")
    found = list(cast("Sequence[Any]", items))
    if len(found) > MOST_ITEMS:
        raise InvalidRequest(f"for_each takes at most {MOST_ITEMS} items, and got {len(found)}.")
    return found
