"""A node that waits: for a time, for a message to the run, or for a person."""

from collections.abc import Iterator

from pegboard.core.graph import Node, NodeState, Wait
from pegboard.core.run import NodeRun, PendingKind, PendingStep
from pegboard.core.tool import JsonSchema
from pegboard.errors import InvalidRequest, ToolTimeout
from pegboard.graphs.engine.node_execution import NodeExecution
from pegboard.graphs.expressions.references import is_path
from pegboard.graphs.expressions.templates import OPENING
from pegboard.graphs.kinds.protocol import SchemaOf


class WaitNode:
    """Its output is the message, or the answer; null when it waited for a time alone."""

    name = "wait"
    fields = frozenset({"wait"})

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        wait = node.wait
        if wait is None or (wait.seconds is None and not wait.event and not wait.question):
            yield "wait", "wait_for_nothing", "Say what to wait for: seconds, event or question."
            return
        if wait.event and wait.question:
            yield (
                "wait",
                "wait_for_two",
                "One node waits for an event or for a person, not for both.",
            )
        if wait.seconds is not None and not _may_be_seconds(wait.seconds):
            yield (
                "wait.seconds",
                "wait_no_number",
                "Say how many seconds as a number, or as a path that leads to one.",
            )
        elif isinstance(wait.seconds, (int, float)) and wait.seconds < 0:
            yield "wait.seconds", "wait_negative", "Time only passes forwards."
        for name in ("event", "assignee"):
            if OPENING in getattr(wait, name):
                message = f"An {name} is known by its name as it is written; no braces are filled."
                yield f"wait.{name}", "text_not_filled", message
        if wait.timeout is not None and wait.timeout <= 0:
            yield "wait.timeout", "timeout_not_positive", "A timeout is more than 0 seconds."

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:  # noqa: ARG002 - the answer has no paths
        return None if node.wait is None else node.wait.schema or None

    async def run(self, doing: NodeExecution) -> NodeRun:
        if (known := doing.recorded) is not None:
            return known
        wait = doing.node.wait
        if wait is None:
            raise InvalidRequest(f"'{doing.step}' does not say what it waits for.")
        limits = await doing.note("?", lambda: _limits(doing, wait))
        began, until, fails_at = limits["began"], limits["until"], limits["fails_at"]
        times = [time for time in (until, fails_at) if time is not None]
        address = doing.slot.step
        kind: PendingKind = "person" if wait.question else "event" if wait.event else "time"
        pending = PendingStep(
            id=address,
            step=doing.step,
            kind=kind,
            message=doing.text(wait.question),
            event=wait.event,
            until=min(times, default=None),
            schema=wait.schema,
            assignee=wait.assignee,
        )
        topic = {"person": f"answer:{address}", "event": f"event:{wait.event}"}.get(kind, "")
        signal = await doing.wait(pending, topic=topic)
        if signal is None and (until is None or (fails_at is not None and fails_at < until)):
            raise ToolTimeout(f"'{doing.step}' waited too long for {wait.event or 'an answer'}.")
        run = NodeRun(
            id=doing.step,
            state=NodeState.COMPLETED,
            output=None if signal is None else signal.message,
            started_at=began,
            duration_ms=round((doing.session.now() - began) * 1000, 3),
        )
        return await doing.ended(run, takes="" if signal is None else signal.id)


def _may_be_seconds(seconds: object) -> bool:
    if isinstance(seconds, str):
        return is_path(seconds)
    return isinstance(seconds, (int, float)) and not isinstance(seconds, bool)


def _limits(doing: NodeExecution, wait: Wait) -> dict[str, float | None]:
    """Until when it waits, in Unix seconds; made once, whatever restarts meanwhile."""
    now = doing.session.now()
    seconds = doing.value(wait.seconds)
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, (int, float))):
        raise InvalidRequest("wait.seconds is not a number.")
    left = None if doing.deadline is None else doing.deadline - doing.session.monotonic()
    limits = [limit for limit in (wait.timeout, left) if limit is not None]
    return {
        "began": now,
        "until": None if seconds is None else now + seconds,
        "fails_at": now + min(limits) if limits else None,
    }
