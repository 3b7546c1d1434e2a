"""Tools, kits and calls for the tests of this room, and a loop whose time a test owns."""

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from pegboard.core.context import Arguments, ToolContext
from pegboard.core.credential import Credential
from pegboard.core.event import CallRecord, Event
from pegboard.core.ports.accounts.credential_store import SealedSecret, StoredCredential
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.core.tool import Effect, ToolSpec
from pegboard.execution import CallEnvironment
from pegboard.execution.call_state import CallState
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.credential_use import CredentialUse
from pegboard.execution.emitter import Emitter
from pegboard.execution.steps.deadline import DeadlineTimer
from pegboard.testing import FakeClock

T = TypeVar("T")
OPEN = {"type": "object", "additionalProperties": True}
ADA = Principal(id="ada", tenant="acme")
BOB = Principal(id="bob", tenant="acme")


class Heard:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        self.events.append(event)

    @property
    def records(self) -> list[CallRecord]:
        return [event for event in self.events if isinstance(event, CallRecord)]

    @property
    def record(self) -> CallRecord:
        """The only one."""
        (record,) = self.records
        return record


class PlainTool:
    """A tool that is nothing but the protocol: a spec and a `run`."""

    def __init__(
        self, spec: ToolSpec, run: Callable[[Mapping[str, Any], ToolContext[Any]], Any]
    ) -> None:
        self.spec = spec
        self.run = run


class Following:
    """What follows a step: gives or raises one outcome after the other, the last one for ever."""

    def __init__(self, *outcomes: ToolResult | BaseException) -> None:
        self._outcomes: Sequence[ToolResult | BaseException] = outcomes or (DONE,)
        self.calls = 0

    async def __call__(self, call: CallState) -> ToolResult:
        outcome = self._outcomes[min(self.calls, len(self._outcomes) - 1)]
        self.calls += 1
        call.attempts += 1
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


DONE = ToolResult(content="done", structured="done")


def a_spec(name: str = "find", **changes: Any) -> ToolSpec:
    """A tool that reads and takes anything."""
    fields: dict[str, Any] = {"effect": Effect.READ, "input_schema": OPEN}
    return ToolSpec(name=name, **(fields | changes))


def a_target(spec: ToolSpec | None = None, *, keyed: bool = False, run: Any = None) -> CompiledTool:
    """A tool as steps see it."""

    async def does_nothing(_arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
        return "done"

    return CompiledTool(PlainTool(spec or a_spec(), run or does_nothing), keyed=keyed)


def a_kit(*listeners: Heard, clock: FakeClock | None = None, **changes: Any) -> CallEnvironment:
    """A fresh kit; on a test's clock when there is one."""
    if clock is not None:
        changes = {"now": clock.time, "monotonic": clock.monotonic} | changes
    return CallEnvironment(emitter=Emitter(listeners), **changes)


def a_call(
    raw: Arguments = None,
    *,
    principal: Principal = ADA,
    deadline: float | None = None,
    key: str | None = None,
    **changes: Any,
) -> CallState:
    """A call on its way."""
    ctx: ToolContext[Any] = ToolContext(
        principal=principal, deadline=deadline, idempotency_key=key, run_id="r1", parent_id="p1"
    )
    fields: dict[str, Any] = {"id": "c1", "name": "find", "started": 0.0, "started_at": 0.0}
    return CallState(raw=raw, ctx=ctx, deadline=deadline, **(fields | changes))


def a_use(**changes: Any) -> CredentialUse:
    """The credential of a call; no value of it is asked for."""
    fields: dict[str, Any] = {
        "id": "c1",
        "owner": "ada",
        "source": "github",
        "name": "work",
        "kind": "oauth2",
        "created_at": 1.0,
    }
    stored = StoredCredential(
        about=Credential(**(fields | changes)),
        sealed=SealedSecret(key_id="k", data_key=b"", value=b""),
    )
    unused: Any = None
    return CredentialUse(stored, unused, tool="find", principal=ADA)


class _Selector(selectors.DefaultSelector):
    """Lets time jump to when the loop would have woken."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout:
            self._clock.advance(timeout)
        return ready


def in_virtual_time(
    work: Callable[[FakeClock], Coroutine[Any, Any, T]], *, clock: FakeClock | None = None
) -> T:
    """Run on a real event loop for which waiting takes no time; the clock says how much it was."""
    clock = clock or FakeClock()
    loop = asyncio.SelectorEventLoop(_Selector(clock))
    own: Any = loop
    own.time = clock.monotonic
    own._pegboard_deadline_timer = DeadlineTimer(loop, monotonic=clock.monotonic)
    try:
        return loop.run_until_complete(work(clock))
    finally:
        loop.close()


def virtually(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test of this `clock` in virtual time."""

    @functools.wraps(test)
    def run(*, clock: FakeClock, **given: Any) -> None:
        in_virtual_time(lambda _: test(clock=clock, **given), clock=clock)

    return run
