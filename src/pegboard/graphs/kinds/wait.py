"""A node that waits for a time, for an event sent to the run, or for a person."""

from collections.abc import Iterator

from pegboard.core.graph import Node, NodeState, Wait
from pegboard.core.run import NodeRun, PendingKind, PendingStep
from pegboard.core.tool import JsonSchema
from pegboard.errors import InvalidRequest, ToolTimeout
from pegboard.graphs.expressions.references import is_path
from pegboard.graphs.expressions.templates import OPENING
from pegboard.graphs.node_kind import NodeContext, SchemaOf


class WaitNode:
    """Its output is the event's message or the person's answer; null after a time."""

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

    async def run(self, context: NodeContext) -> NodeRun:
        if (known := context.recorded) is not None:
            return known
        wait = context.node.wait
        if wait is None:
            raise InvalidRequest(f"'{context.step}' does not say what it waits for.")
        limits = await context.compute_once("?", lambda: _limits(context, wait))
        began, until, fails_at = limits["began"], limits["until"], limits["fails_at"]
        times = [time for time in (until, fails_at) if time is not None]
        address = context.address
        kind: PendingKind = "person" if wait.question else "event" if wait.event else "time"
        pending = PendingStep(
            id=address,
            step=context.step,
            kind=kind,
            message=context.text(wait.question),
            event=wait.event,
            until=min(times, default=None),
            schema=wait.schema,
            assignee=wait.assignee,
        )
        topic = {"person": f"answer:{address}", "event": f"event:{wait.event}"}.get(kind, "")
        signal = await context.wait(pending, topic=topic)
        if signal is None and (until is None or (fails_at is not None and fails_at < until)):
            raise ToolTimeout(f"'{context.step}' waited too long for {wait.event or 'an answer'}.")
        run = NodeRun(
            id=context.step,
            state=NodeState.COMPLETED,
            output=None if signal is None else signal.message,
            started_at=began,
            duration_ms=round((context.now() - began) * 1000, 3),
        )
        return await context.record(run, takes="" if signal is None else signal.id)


def _may_be_seconds(seconds: object) -> bool:
    if isinstance(seconds, str):
        return is_path(seconds)
    return isinstance(seconds, (int, float)) and not isinstance(seconds, bool)


def _limits(context: NodeContext, wait: Wait) -> dict[str, float | None]:
    """When the wait began, ends and fails, in Unix seconds."""
    now = context.now()
    seconds = context.value(wait.seconds)
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, (int, float))):
        raise InvalidRequest("wait.seconds is not a number.")
    left = None if context.deadline is None else context.deadline - context.monotonic()
    limits = [limit for limit in (wait.timeout, left) if limit is not None]
    return {
        "began": now,
        "until": None if seconds is None else now + seconds,
        "fails_at": now + min(limits) if limits else None,
    }
