"""`ToolContext`: the call that a tool runs in, and what the tool may ask of the board."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from msgspec import Struct
from typing_extensions import TypeVar

from pegboard.core.principal import LOCAL, Principal
from pegboard.core.result import ToolResult
from pegboard.errors import ElicitationUnavailable

if TYPE_CHECKING:
    from logging import Logger, LoggerAdapter

    from pegboard.core.credential import CallCredential
    from pegboard.core.elicitation import (
        Answer,
        Elicitor,
        LogLevel,
        LogLine,
        Question,
        Sample,
        SampleRequest,
    )

Deps = TypeVar("Deps", default=None)

Arguments = Mapping[str, Any] | str | bytes | None
"""A call's arguments as they arrive: a mapping, a JSON text, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a call.

    Attributes:
        done: In any unit; only grows.
        total: In the same unit; None when unknown.
    """

    call_id: str
    tool: str
    done: float
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRetry:
    """A try of a call has failed, and another one follows.

    Attributes:
        attempt: The number of the next try; the second one is 2.
        max_attempts: How many there are at most.
        delay: Seconds until it begins.
        error_code: Why the last one failed.
    """

    call_id: str
    tool: str
    attempt: int
    max_attempts: int
    delay: float
    error_code: str


Call = Callable[[str, Arguments, "ToolContext[Any]"], Awaitable[ToolResult]]


class ToolContext(Struct, Generic[Deps], frozen=True, kw_only=True):
    """The context of a call, passed to tools that take it; hidden from their schema.

    A caller makes one to set the principal and the deadline; the pipeline derives one per call.

    ```python
    @tool
    async def refund(order: int, ctx: ToolContext[Shop]) -> str:
        await ctx.progress(1, total=2, message="checking")
        return await ctx.deps.refund(order)
    ```

    Attributes:
        deps: Dependencies of the application for its tools.
        principal: The caller.
        run_id: The run this call is part of; empty outside runs.
        root_id: The outermost run that this call is part of, whose trust it shares; empty means
            `run_id`.
        call_id: The id of this call; empty in a context that a caller made.
        parent_id: The call that made this call.
        deadline: `time.monotonic()` seconds by which the call must finish; None for no limit.
        idempotency_key: The same key, principal and arguments return the first outcome again.
        instead_of: The tool that this one substitutes, for the record; empty for none.
        workspace: The only folder that file tools may touch; None means the workspace of the board,
            else the caller's own.
        workspace_yields: Whether a folder that the operator named for a source comes before
            `workspace`, as in a conversation.
        max_result_bytes: The result's size budget for this caller; None means that of the tool.
        on_progress: Receives each `progress`; must not block.
        on_log: Receives each `tell`; must not block.
        on_retry: Receives each failed try that another one follows; must not block.
        knowledge: The names and ids of the knowledge bases that the call may reach; None for all
            that the caller may see.
        credential: The credential of the caller, where the source of the tool takes one.
        account: The name of the credential to call with; empty for that of the conversation, else
            that of the agent, else the caller's default.
        accounts: The names of the credentials that the agent of the call has chosen, by source.
        elicitor: Answers questions while the call runs; None when the caller cannot be asked.
    """

    deps: Deps = None  # type: ignore[assignment]  # the default of Deps is None
    principal: Principal = LOCAL
    run_id: str = ""
    root_id: str = ""
    call_id: str = ""
    parent_id: str = ""
    tool: str = ""
    deadline: float | None = None
    idempotency_key: str | None = None
    instead_of: str = ""
    workspace: Path | None = None
    workspace_yields: bool = False
    max_result_bytes: int | None = None
    on_progress: Callable[[Progress], None] | None = None
    on_log: "Callable[[LogLine], None] | None" = None
    on_retry: Callable[[CallRetry], None] | None = None
    elicitor: "Elicitor | None" = None
    caller: Call | None = None
    credential: "CallCredential | None" = None
    account: str = ""
    accounts: Mapping[str, str] = {}
    knowledge: frozenset[str] | None = None

    @property
    def log(self) -> "LoggerAdapter[Logger]":
        """A logger whose lines carry the call's id and tool."""
        from logging import LoggerAdapter, getLogger

        extra = {"call_id": self.call_id, "tool": self.tool, "run_id": self.run_id}
        return LoggerAdapter(getLogger("pegboard.tool"), extra)

    def remaining(self) -> float | None:
        """Seconds left until the deadline, at least 0; None for no limit.

        The time in which a person was asked does not count, where the deadline waits for that.
        """
        if self.deadline is None:
            return None
        paused: float = getattr(self.elicitor, "paused", 0.0)
        return max(0.0, self.deadline + paused - time.monotonic())

    async def progress(self, done: float, *, total: float | None = None, message: str = "") -> None:
        """Report the progress of this call."""
        if self.on_progress is not None:
            self.on_progress(
                Progress(
                    call_id=self.call_id, tool=self.tool, done=done, total=total, message=message
                )
            )

    async def tell(self, data: Any, *, level: "LogLevel" = "info", logger: str = "") -> None:
        """Send a log message to the caller while the call runs; `log` is for the operator.

        Args:
            data: Text, or any JSON value.
            level: The severity.
            logger: The part of the tool that logs.
        """
        if self.on_log is not None:
            from pegboard.core.elicitation import LogLine

            self.on_log(
                LogLine(call_id=self.call_id, tool=self.tool, level=level, data=data, logger=logger)
            )

    async def ask(self, question: "Question") -> "Answer":
        """Ask the person who made this call, and wait for the answer.

        Raises:
            ElicitationUnavailable: The client of the caller supports no questions.
        """
        if self.elicitor is None or not self.elicitor.takes_questions:
            raise ElicitationUnavailable(
                f"'{self.tool}' needs to ask a question, and its caller cannot be asked."
            )
        return await self.elicitor.ask(
            question if question.tool else replace(question, tool=self.tool)
        )

    async def sample(self, request: "SampleRequest") -> "Sample":
        """Request a completion from the model of the caller.

        Raises:
            ElicitationUnavailable: The client of the caller offers no model.
        """
        if self.elicitor is None or not self.elicitor.takes_samples:
            raise ElicitationUnavailable(
                f"'{self.tool}' needs the caller's model, and there is none."
            )
        return await self.elicitor.sample(request)

    async def call(self, tool: str, arguments: Arguments = None) -> ToolResult:
        """Call another tool through the same pipeline, for the same principal and deadline.

        Raises:
            RuntimeError: This context did not come from a registry's call.
        """
        if self.caller is None:
            raise RuntimeError("ctx.call works inside a call: this context belongs to no registry")
        inner: ToolContext[Deps] = ToolContext(
            deps=self.deps,
            principal=self.principal,
            run_id=self.run_id,
            root_id=self.root_id,
            parent_id=self.call_id,
            deadline=self.deadline,
            workspace=self.workspace,
            workspace_yields=self.workspace_yields,
            knowledge=self.knowledge,
            accounts=self.accounts,
            on_progress=self.on_progress,
            on_log=self.on_log,
            elicitor=self.elicitor,
        )
        return await self.caller(tool, arguments, inner)
