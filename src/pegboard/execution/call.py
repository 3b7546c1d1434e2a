"""One call on its way through the steps; private to this room."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pegboard.core.context import Arguments, Call, ToolContext
from pegboard.core.decision import Decision
from pegboard.core.result import ToolResult


class Run:
    """What the steps of one call share; made by the pipeline, dropped when the call ends.

    Attributes:
        raw: The arguments as they arrived.
        arguments: The arguments as `validate` read them.
        started: `time.monotonic()` seconds.
        deadline: `time.monotonic()` seconds by which the whole call must have ended.
        attempts: How often the tool itself was started.
    """

    __slots__ = (
        "arguments",
        "attempts",
        "cached",
        "caller",
        "ctx",
        "deadline",
        "decision",
        "id",
        "name",
        "raw",
        "replayed",
        "started",
        "started_at",
    )

    def __init__(self, call_id: str, name: str, raw: Arguments, ctx: ToolContext[Any]) -> None:
        self.id = call_id
        self.name = name
        self.raw = raw
        self.ctx = ctx
        self.arguments: Mapping[str, Any] = {}
        self.attempts = 0
        self.cached = False
        self.replayed = False
        self.decision: Decision | None = None
        self.deadline: float | None = ctx.deadline
        self.caller: Call | None = None
        self.started = 0.0
        self.started_at = 0.0

    def context(self) -> ToolContext[Any]:
        """What the running tool is given."""
        ctx = self.ctx
        return ToolContext(
            deps=ctx.deps,
            principal=ctx.principal,
            run_id=ctx.run_id,
            call_id=self.id,
            parent_id=ctx.parent_id,
            tool=self.name,
            deadline=self.deadline,
            idempotency_key=ctx.idempotency_key,
            workspace=ctx.workspace,
            on_progress=ctx.on_progress,
            caller=self.caller,
        )

    @property
    def owner(self) -> str:
        """Whose stored results and idempotency keys these are."""
        principal = self.ctx.principal
        return f"{principal.tenant}/{principal.id}"


Handler = Callable[[Run], Awaitable[ToolResult]]
"""A step with everything below it: takes the call on its way down, gives the result back up."""
