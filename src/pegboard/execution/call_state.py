"""One call on its way through the steps; private to this room."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from pegboard.core.context import Arguments, Call, Progress, ToolContext
from pegboard.core.decision import Decision
from pegboard.core.elicitation import LogLine
from pegboard.core.ports.approval_store import Approval
from pegboard.core.result import ToolResult
from pegboard.execution.results.redaction import redacted_value

NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})


class CallState(Struct, eq=False, kw_only=True):
    """What the steps of one call share; made by the pipeline, dropped when the call ends.

    Attributes:
        raw: The arguments as they arrived.
        started: `time.monotonic()` seconds.
        started_at: Unix seconds.
        deadline: `time.monotonic()` seconds by which the whole call must have ended.
        until: The same for the attempt that runs.
        cancelling: How many requests to cancel the task there were before the attempt.
        caller: Calls another tool on behalf of this call.
        arguments: The arguments as `validate` read them.
        approval: What lets it through although the policy asks.
        attempts: How often the tool itself was started.
    """

    id: str
    name: str
    raw: Arguments
    ctx: ToolContext[Any]
    started: float
    started_at: float
    deadline: float | None = None
    until: float | None = None
    cancelling: int = 0
    caller: Call | None = None
    arguments: Mapping[str, Any] = NO_ARGUMENTS
    decision: Decision | None = None
    approval: Approval | None = None
    attempts: int = 0
    cached: bool = False
    replayed: bool = False

    def context(self, redact: Callable[[str], str] | None = None) -> ToolContext[Any]:
        """What the running tool is given; what it tells of its progress is redacted."""
        ctx, listen, log = self.ctx, self.ctx.on_progress, self.ctx.on_log
        if redact is not None and listen is not None:
            listen = _redacting(listen, redact)
        if redact is not None and log is not None:
            log = _redacting_log(log, redact)
        return ToolContext(
            deps=ctx.deps,
            principal=ctx.principal,
            run_id=ctx.run_id,
            call_id=self.id,
            parent_id=ctx.parent_id,
            tool=self.name,
            deadline=self.deadline if self.until is None else self.until,
            idempotency_key=ctx.idempotency_key,
            instead_of=ctx.instead_of,
            workspace=ctx.workspace,
            on_progress=listen,
            on_log=log,
            elicitor=ctx.elicitor,
            caller=self.caller,
        )

    @property
    def owner(self) -> str:
        """Whose stored results and idempotency keys these are."""
        return self.ctx.principal.owner


def _redacting(
    listen: Callable[[Progress], None], redact: Callable[[str], str]
) -> Callable[[Progress], None]:
    return lambda told: listen(replace(told, message=redact(told.message)))


def _redacting_log(
    log: Callable[[LogLine], None], redact: Callable[[str], str]
) -> Callable[[LogLine], None]:
    return lambda told: log(replace(told, data=redacted_value(told.data, redact)))


Handler = Callable[[CallState], Coroutine[Any, Any, ToolResult]]
"""A step with everything below it: takes the call on its way down, gives the result back up.

A step with nothing to do on the way up is a plain function that hands on what follows, so that the
call has one frame less to wait in.
"""
