"""The one way to call a tool: every door, engine and graph step comes through here."""

import asyncio
import itertools
import os
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from typing import Any

from msgspec import structs

from pegboard.core.context import Arguments, ToolContext
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable, ToolFailed, ToolNotFound, shorten_name
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.order import compile_path
from pegboard.execution.steps.record import record
from pegboard.execution.wait_for_source import wait_for_source

_DEFAULT_CONTEXT: ToolContext[Any] = ToolContext()

CallItem = tuple[str, Arguments]


class CallIds:
    """`c_` and 20 hex digits that name the process, then a counter."""

    def __init__(self, random_hex: Callable[[int], str] = secrets.token_hex) -> None:
        self._random_hex = random_hex
        self._prefix = ""
        self._counter: Iterator[int] = itertools.count(1)
        self.renew()

    def renew(self) -> None:
        """Start anew; a forked process must not go on with its parent's ids."""
        self._prefix = f"c_{self._random_hex(10)}_"
        self._counter = itertools.count(1)

    def __call__(self) -> str:
        """A new id."""
        return f"{self._prefix}{next(self._counter)}"


new_call_id = CallIds()
os.register_at_fork(after_in_child=new_call_id.renew)


class Pipeline:
    """Compiles the path of each tool once and sends calls along it.

    Args:
        lookup: The tool of a name, or None.
        nearest: Names that an unknown one may have meant, of tools that the caller may see.
        kit: What the steps work with.
    """

    def __init__(
        self,
        lookup: Callable[[str], Tool | None],
        nearest: Callable[[str, Principal], Iterable[str]],
        kit: CallEnvironment,
    ) -> None:
        self.kit = kit
        self._lookup = lookup
        self._nearest = nearest
        self._now, self._monotonic = kit.now, kit.monotonic
        self._call_timeout = kit.settings.call_timeout
        self._plain: dict[str, Handler] = {}
        self._keyed: dict[str, Handler] = {}
        self._unknown = record(None, kit, self._refuse_unknown)

    def call(
        self, name: str, arguments: Arguments = None, ctx: ToolContext[Any] | None = None
    ) -> Coroutine[Any, Any, ToolResult]:
        """Run one tool; only cancellation is raised, everything else is a result.

        The path's own coroutine is handed on: one around it would cost each call as much as a step.
        """
        if ctx is None:
            ctx = _DEFAULT_CONTEXT
        paths = self._keyed if ctx.idempotency_key else self._plain
        path = paths.get(name) or self._resolve(name, paths)
        started, deadline = self._monotonic(), ctx.deadline
        if deadline is None and self._call_timeout:
            deadline = started + self._call_timeout
        run = CallState(
            id=new_call_id(),
            name=name,
            raw=arguments,
            ctx=ctx,
            started=started,
            started_at=self._now(),
            deadline=deadline,
            caller=self.call,
        )
        return path(run)

    async def call_apart(
        self, name: str, arguments: Arguments = None, ctx: ToolContext[Any] | None = None
    ) -> ToolResult:
        """As `call`, in a task of its own, so that a tool can cancel nothing but its own call."""
        results = await run_batch(
            1,
            lambda _: self.call(name, arguments, ctx),
            is_exclusive=lambda _: False,
            concurrency=1,
        )
        return results[0]

    async def call_many(
        self, calls: Sequence[CallItem], ctx: ToolContext[Any] | None = None
    ) -> list[ToolResult]:
        """Run a batch concurrently; results in the order of the calls, no failure stops another.

        An idempotency key is the batch's: each call has `key/place`, so that a batch that is sent
        again gives its first outcomes again.
        """

        def is_exclusive(place: int) -> bool:
            tool = self._lookup(calls[place][0])
            if tool is None:  # one that is still to come may be
                return self.kit.coming(calls[place][0]) is not None
            return tool.spec.exclusive

        def call(place: int) -> Coroutine[Any, Any, ToolResult]:
            name, arguments = calls[place]
            return self.call(name, arguments, _at(place, ctx))

        return await run_batch(
            len(calls),
            call,
            is_exclusive=is_exclusive,
            concurrency=self.kit.settings.batch_concurrency,
        )

    def forget(self, name: str) -> None:
        """The tool of this name changed: compile its path again."""
        self._plain.pop(name, None)
        self._keyed.pop(name, None)

    def forget_all(self) -> None:
        """Policy or sources changed."""
        self._plain.clear()
        self._keyed.clear()

    def _resolve(self, name: str, paths: dict[str, Handler]) -> Handler:
        tool = self._lookup(name)
        if tool is None:
            return self._absent(paths)
        try:
            target = CompiledTool(tool, keyed=paths is self._keyed)
            path = compile_path(target, self.kit)
        except Exception as error:  # noqa: BLE001 - recorded as the outcome of the call, by the path made here
            return record(None, self.kit, _raising(error))
        if target.spec.name != name:
            path = _under(target.spec.name, path)
        paths[name] = path
        if self._lookup(name) is not tool:
            paths.pop(name, None)  # another thread replaced it after we looked
        return path

    def _absent(self, paths: dict[str, Handler]) -> Handler:
        """The path of a name that no tool has, unless its source has yet to answer."""

        async def handle(call: CallState) -> ToolResult:
            try:
                await wait_for_source(self.kit, call.name, deadline=call.deadline)
            except asyncio.CancelledError as error:
                return await record(None, self.kit, _raising(error))(call)
            if self._lookup(call.name) is None:
                return await self._unknown(call)
            return await self._resolve(call.name, paths)(call)

        return handle

    async def _refuse_unknown(self, call: CallState) -> ToolResult:
        reason = self.kit.why_absent(call.name)
        nearest = () if reason else tuple(self._nearest(call.name, call.ctx.principal))
        call.name = shorten_name(call.name)
        if reason:
            raise SourceUnavailable(f"'{call.name}' is not there now: {reason}")
        raise ToolNotFound(call.name, nearest)


def _under(name: str, path: Handler) -> Handler:
    """The path of a tool that was called by its id: records and errors say its name."""

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        call.name = name
        return path(call)

    return handle


def _at(place: int, ctx: ToolContext[Any] | None) -> ToolContext[Any] | None:
    if ctx is None or not ctx.idempotency_key:
        return ctx
    return structs.replace(ctx, idempotency_key=f"{ctx.idempotency_key}/{place}")


def _raising(error: BaseException) -> Handler:
    async def handle(_call: CallState) -> ToolResult:
        raise error

    return handle


async def run_batch(
    count: int,
    call: Callable[[int], Awaitable[ToolResult]],
    *,
    is_exclusive: Callable[[int], bool],
    concurrency: int,
) -> list[ToolResult]:
    """Run all; results in the order of the calls.

    A tool that asks to run alone splits the batch: what stands before it ends first, and what
    stands behind it waits. When the batch is cancelled, all its calls are, and are waited for.

    Args:
        count: How many calls.
        call: Runs the one at a place and never raises for a failed tool.
        is_exclusive: Whether the one at a place must run alone.
        concurrency: Calls in flight at once; 0 for no limit.
    """
    results: list[ToolResult] = []
    group: list[int] = []
    for place in range(count):
        if is_exclusive(place):
            results += await _together(group, call, concurrency)
            results += await _together([place], call, 1)
            group = []
        else:
            group.append(place)
    return results + await _together(group, call, concurrency)


async def _together(
    places: Sequence[int], call: Callable[[int], Awaitable[ToolResult]], concurrency: int
) -> list[ToolResult]:
    if not places:
        return []
    free = asyncio.Semaphore(concurrency or len(places))

    async def one(place: int) -> ToolResult:
        async with free:
            return await call(place)

    tasks = [asyncio.create_task(one(place)) for place in places]
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        await _ended(tasks)
        raise
    return [_interrupted() if task.cancelled() else task.result() for task in tasks]


async def _ended(tasks: "Sequence[asyncio.Task[ToolResult]]") -> None:
    """Cancel them and wait until all have ended, whatever is asked of us meanwhile."""
    for task in tasks:
        task.cancel()
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()


def _interrupted() -> ToolResult:
    error = ToolFailed("The tool cancelled its own call.")
    return ToolResult(content=str(error), is_error=True, error=error)
