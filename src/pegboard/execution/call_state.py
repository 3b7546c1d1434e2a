"""The state of one call, shared by its steps."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from pegboard.core.argument_origin import ArgumentOrigins
from pegboard.core.context import Arguments, Call, Progress, ToolContext
from pegboard.core.decision import Decision
from pegboard.core.elicitation import Elicitor, LogLine, is_timed
from pegboard.core.ports.approval_store import Approval
from pegboard.core.ports.taint_store import Taint
from pegboard.core.result import CallTry, ToolResult
from pegboard.execution.credential_use import CredentialUse
from pegboard.execution.deadline_pause import DeadlineEntry, DeadlinePause
from pegboard.execution.results.redaction import redact_value

NO_ARGUMENTS: Mapping[str, Any] = MappingProxyType({})


class CallState(Struct, eq=False, kw_only=True):
    """The state of one call: made by the pipeline, passed to each step, dropped at the end.

    Attributes:
        raw: The arguments as they arrived.
        started: `time.monotonic()` seconds.
        started_at: Unix seconds.
        deadline: `time.monotonic()` seconds by which the whole call must have ended.
        attempt_deadline: The same for the current attempt.
        attempt_entry: The deadline of the current attempt at its timer; None for no limit.
        cancelling: `Task.cancelling()` before the current attempt.
        caller: Calls another tool on behalf of this call.
        arguments: The validated arguments.
        approval: The approval of this call, where the policy asks for one.
        credential: The credential of its caller that it acts with, where its source takes one.
        taint: The call that brought untrusted text into the run of this one, as far as the policy
            wants to know; None for none.
        origins: Where its arguments come from, where the policy decides by that.
        untrusted: Whether the result may contain untrusted text.
        attempts: How often the tool itself was started.
        tries: The tries so far, if one has failed; None until then.
    """

    id: str
    name: str
    raw: Arguments
    ctx: ToolContext[Any]
    started: float
    started_at: float
    deadline: float | None = None
    attempt_deadline: float | None = None
    attempt_entry: DeadlineEntry | None = None
    cancelling: int = 0
    caller: Call | None = None
    arguments: Mapping[str, Any] = NO_ARGUMENTS
    decision: Decision | None = None
    approval: Approval | None = None
    credential: CredentialUse | None = None
    taint: Taint | None = None
    origins: ArgumentOrigins | None = None
    attempts: int = 0
    tries: list[CallTry] | None = None
    cached: bool = False
    replayed: bool = False
    untrusted: bool = False

    def context(self, redact: Callable[[str], str] | None = None) -> ToolContext[Any]:
        """The tool's `ToolContext`; secrets are removed from progress and log messages."""
        ctx, listen, log = self.ctx, self.ctx.on_progress, self.ctx.on_log
        redact = self.mask_with(redact)
        if redact is not None and listen is not None:
            listen = _redacting(listen, redact)
        if redact is not None and log is not None:
            log = _redacting_log(log, redact)
        return ToolContext(
            deps=ctx.deps,
            principal=ctx.principal,
            run_id=ctx.run_id,
            root_id=ctx.root_id,
            call_id=self.id,
            parent_id=ctx.parent_id,
            tool=self.name,
            deadline=self.deadline if self.attempt_deadline is None else self.attempt_deadline,
            idempotency_key=ctx.idempotency_key,
            instead_of=ctx.instead_of,
            workspace=ctx.workspace,
            workspace_yields=ctx.workspace_yields,
            on_progress=listen,
            on_log=log,
            elicitor=self._elicitor(),
            caller=self.caller,
            credential=self.credential,
        )

    def _elicitor(self) -> Elicitor | None:
        """The elicitor of the current attempt, whose time does not pass while a person is asked."""
        elicitor, entry = self.ctx.elicitor, self.attempt_entry
        if elicitor is not None and entry is not None and is_timed(elicitor):
            return DeadlinePause(elicitor, self, entry)
        return elicitor

    def mask_with(self, redact: Callable[[str], str] | None) -> Callable[[str], str] | None:
        """The function that also masks what this call's credential has revealed."""
        use = self.credential
        if use is None:
            return redact
        return use.mask if redact is None else lambda text: use.mask(redact(text))

    @property
    def owner(self) -> str:
        """The owner of this call's stored results and idempotency keys."""
        return self.ctx.principal.owner


def _redacting(
    listen: Callable[[Progress], None], redact: Callable[[str], str]
) -> Callable[[Progress], None]:
    return lambda progress: listen(replace(progress, message=redact(progress.message)))


def _redacting_log(
    log: Callable[[LogLine], None], redact: Callable[[str], str]
) -> Callable[[LogLine], None]:
    return lambda line: log(replace(line, data=redact_value(line.data, redact)))


Handler = Callable[[CallState], Coroutine[Any, Any, ToolResult]]
"""A step together with all steps below it: takes the call, returns its result.

A step that does nothing with the result is a plain function that returns the coroutine of the next
step, so that the call has one coroutine less.
"""
