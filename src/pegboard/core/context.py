"""What a running tool knows about its call, and what it may ask of the board."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from msgspec import Struct
from typing_extensions import TypeVar

from pegboard.core.principal import LOCAL, Principal
from pegboard.core.result import ToolResult
from pegboard.errors import ElicitationUnavailable

if TYPE_CHECKING:
    from logging import Logger, LoggerAdapter

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
    """How far a call has come.

    Attributes:
        done: In any unit, growing.
        total: In the same unit; None when unknown.
    """

    call_id: str
    tool: str
    done: float
    total: float | None = None
    message: str = ""


Call = Callable[[str, Arguments, "ToolContext[Any]"], Awaitable[ToolResult]]


class ToolContext(Struct, Generic[Deps], frozen=True, kw_only=True):
    """What a tool may know and ask while it runs; hidden from its schema.

    A caller makes one to say who asks and by when; the pipeline derives one for each call.

    ```python
    @tool
    async def refund(order: int, ctx: ToolContext[Shop]) -> str:
        await ctx.progress(1, total=2, message="checking")
        return await ctx.deps.refund(order)
    ```

    Attributes:
        deps: What the application hands to its tools.
        principal: Who the call is made for.
        run_id: The run this call is part of; empty outside runs.
        call_id: This call; empty in a context that a caller made.
        parent_id: The call that made this call.
        deadline: `time.monotonic()` seconds by which the call must have ended; None for no limit.
        idempotency_key: The same key, principal and arguments give the first outcome again.
        instead_of: The tool in whose place this one is called, for the record; empty for none.
        workspace: The only folder that file tools may touch; None means the one that the board
            names, else the caller's own.
        on_progress: Told of each `progress`; must not block.
        on_log: Told of each `tell`; must not block.
        elicitor: The caller, where it answers questions while the call runs; None where it cannot.
    """

    deps: Deps = None  # type: ignore[assignment]  # None is what Deps is unless somebody says
    principal: Principal = LOCAL
    run_id: str = ""
    call_id: str = ""
    parent_id: str = ""
    tool: str = ""
    deadline: float | None = None
    idempotency_key: str | None = None
    instead_of: str = ""
    workspace: Path | None = None
    on_progress: Callable[[Progress], None] | None = None
    on_log: "Callable[[LogLine], None] | None" = None
    elicitor: "Elicitor | None" = None
    caller: Call | None = None

    @property
    def log(self) -> "LoggerAdapter[Logger]":
        """A logger whose lines carry the call's id and tool."""
        from logging import LoggerAdapter, getLogger

        extra = {"call_id": self.call_id, "tool": self.tool, "run_id": self.run_id}
        return LoggerAdapter(getLogger("pegboard.tool"), extra)

    def remaining(self) -> float | None:
        """Seconds left until the deadline, at least 0; None for no limit."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    async def progress(self, done: float, *, total: float | None = None, message: str = "") -> None:
        """Tell whoever is listening how far this call has come."""
        if self.on_progress is not None:
            self.on_progress(
                Progress(
                    call_id=self.call_id, tool=self.tool, done=done, total=total, message=message
                )
            )

    async def tell(self, data: Any, *, level: "LogLevel" = "info", logger: str = "") -> None:
        """Tell the caller something while the call runs; `log` is for the operator instead.

        Args:
            data: Text, or any JSON value.
            level: How grave it is.
            logger: Which part of the tool speaks.
        """
        if self.on_log is not None:
            from pegboard.core.elicitation import LogLine

            self.on_log(
                LogLine(call_id=self.call_id, tool=self.tool, level=level, data=data, logger=logger)
            )

    async def ask(self, question: "Question") -> "Answer":
        """Ask the person behind this call, and wait for the answer.

        Raises:
            ElicitationUnavailable: There is nobody, or their client takes no questions.
        """
        if self.elicitor is None or not self.elicitor.takes_questions:
            raise ElicitationUnavailable(
                f"'{self.tool}' needs to ask something, and nobody can be asked."
            )
        return await self.elicitor.ask(question)

    async def sample(self, request: "SampleRequest") -> "Sample":
        """Ask the model of whoever called.

        Raises:
            ElicitationUnavailable: The caller lends no model.
        """
        if self.elicitor is None or not self.elicitor.takes_samples:
            raise ElicitationUnavailable(
                f"'{self.tool}' needs the caller's model, and there is none."
            )
        return await self.elicitor.sample(request)

    async def call(self, tool: str, arguments: Arguments = None) -> ToolResult:
        """Call another tool through the same pipeline, as the same principal, never later.

        Raises:
            RuntimeError: This context did not come from a registry's call.
        """
        if self.caller is None:
            raise RuntimeError("ctx.call works inside a call: this context belongs to no registry")
        inner: ToolContext[Deps] = ToolContext(
            deps=self.deps,
            principal=self.principal,
            run_id=self.run_id,
            parent_id=self.call_id,
            deadline=self.deadline,
            workspace=self.workspace,
            on_progress=self.on_progress,
            on_log=self.on_log,
            elicitor=self.elicitor,
        )
        return await self.caller(tool, arguments, inner)
