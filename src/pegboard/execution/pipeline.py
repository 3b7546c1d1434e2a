"""The pipeline through which every call of a tool passes, from every door, engine and graph."""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, cast

from msgspec import structs

from pegboard.access import may_know
from pegboard.core.context import Arguments, ToolContext
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import SourceUnavailable, ToolFailed, ToolNotFound, shorten_name
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.order import compile_path
from pegboard.execution.steps.record import record
from pegboard.execution.wait_for_source import wait_for_source

_DEFAULT_CONTEXT: ToolContext[Any] = ToolContext()

_ID_BYTES = 10
_IDS_AT_ONCE = 256

CallItem = tuple[str, Arguments]


class CallIds:
    """`c_` and 20 random hex digits: an id tells nothing of the calls of others.

    Ids are drawn many at once, as asking the system for each would cost more than the rest of it.
    """

    def __init__(self, random_bytes: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._random_bytes = random_bytes
        self._drawn: list[str] = []

    def renew(self) -> None:
        """Draw anew, so that a forked process does not repeat its parent's ids."""
        self._drawn.clear()

    def __call__(self) -> str:
        """A new id."""
        try:
            return self._drawn.pop()  # atomic, so that threads never share an id
        except IndexError:
            return self._draw()

    def _draw(self) -> str:
        digits = self._random_bytes(_ID_BYTES * _IDS_AT_ONCE).hex(" ", _ID_BYTES)
        first, *others = f"c_{digits}".replace(" ", " c_").split()
        self._drawn.extend(others)
        return first


new_call_id = CallIds()
os.register_at_fork(after_in_child=new_call_id.renew)


class Pipeline:
    """Compiles the steps of each tool once and runs calls through them.

    Args:
        lookup: The tool of a name, or None.
        nearest: Suggestions for an unknown name, among the tools that the caller may see.
        environment: Policy, stores, clocks and limits.
    """

    def __init__(
        self,
        lookup: Callable[[str], Tool | None],
        nearest: Callable[[str, Principal], Iterable[str]],
        environment: CallEnvironment,
    ) -> None:
        self.environment = environment
        self._lookup = lookup
        self._nearest = nearest
        self._now, self._monotonic = environment.now, environment.monotonic
        self._call_timeout = environment.settings.call_timeout
        self._plain: dict[str, Handler] = {}
        self._keyed: dict[str, Handler] = {}
        self._spellings: dict[str, set[str]] = {}  # ids and pins with a path, by the tool's name
        self._unknown = record(None, environment, self._refuse_unknown)

    def call(
        self, name: str, arguments: Arguments = None, ctx: ToolContext[Any] | None = None
    ) -> Coroutine[Any, Any, ToolResult]:
        """Call one tool. Only cancellation is raised; every other failure is a result.

        Returns the coroutine of the first step: another one around it would cost each call as much
        as a step.

        Raises:
            TypeError: `ctx` is not a `ToolContext`.
        """
        if ctx is None:
            ctx = _DEFAULT_CONTEXT
        try:
            paths = self._keyed if ctx.idempotency_key else self._plain
        except AttributeError as error:
            raise _not_a_context(ctx) from error
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

    def refuse_unknown(
        self,
        name: str,
        arguments: Arguments,
        ctx: ToolContext[Any] | None,
        nearest: Iterable[str],
    ) -> Coroutine[Any, Any, ToolResult]:
        """Answer and record a call as one of an unknown tool, whatever tools there are."""
        name = shorten_name(name)
        run = CallState(
            id=new_call_id(),
            name=name,
            raw=arguments,
            ctx=_check_context(ctx),
            started=self._monotonic(),
            started_at=self._now(),
            deadline=None,
            caller=self.call,
        )
        return record(None, self.environment, _raising(ToolNotFound(name, tuple(nearest))))(run)

    async def call_apart(
        self, name: str, arguments: Arguments = None, ctx: ToolContext[Any] | None = None
    ) -> ToolResult:
        """Like `call`, in a task of its own, so that a tool can cancel only its own call."""
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
        """Run a batch concurrently; results are in the order of the calls, failures are isolated.

        An idempotency key is that of the batch: each call has the key `key/index`, so that a batch
        that is sent again gives its first outcomes.

        Raises:
            TypeError: `ctx` is not a `ToolContext`.
        """
        _check_context(ctx)

        def is_exclusive(index: int) -> bool:
            tool = self._lookup(calls[index][0])
            if tool is None:  # a tool whose source has not answered may be exclusive
                return self.environment.pending_source(calls[index][0]) is not None
            return tool.spec.exclusive

        def call(index: int) -> Coroutine[Any, Any, ToolResult]:
            name, arguments = calls[index]
            return self.call(name, arguments, _at(index, ctx))

        return await run_batch(
            len(calls),
            call,
            is_exclusive=is_exclusive,
            concurrency=self.environment.settings.batch_concurrency,
        )

    @property
    def has_paths(self) -> bool:
        """Whether any path is compiled."""
        return bool(self._plain or self._keyed)

    def forget(self, name: str) -> None:
        """Compile the paths of a name, and of the ids and pins of its tool, again when needed.

        Args:
            name: The name of a tool that was added, changed or removed, or its id.
        """
        for spelling in (name, *self._spellings.pop(name, ())):
            self._plain.pop(spelling, None)
            self._keyed.pop(spelling, None)

    def forget_all(self) -> None:
        """Compile every path again, because the policy or the sources have changed."""
        self._plain.clear()
        self._keyed.clear()
        self._spellings.clear()

    def _resolve(self, name: str, paths: dict[str, Handler]) -> Handler:
        tool = self._lookup(name)
        if tool is None:
            return self._wait_and_resolve(paths)
        try:
            target = CompiledTool(tool, keyed=paths is self._keyed)
            path = compile_path(target, self.environment)
        except Exception as error:  # noqa: BLE001 - recorded as the outcome of the call, by the path made here
            return record(None, self.environment, _raising(error))
        if target.spec.name != name:
            path = _under(target.spec.name, path)
            if target.spec.alias == name:
                path = self._unless_hidden(target.spec, path)
            self._spellings.setdefault(target.spec.name, set()).add(name)
        if self.environment.resource_index.governs(target.spec.source):
            path = self._unless_not_theirs(target.spec.source, path)
        paths[name] = path
        if self._lookup(name) is not tool:
            paths.pop(name, None)  # another thread replaced it after we looked
        return path

    def _unless_hidden(self, spec: ToolSpec, path: Handler) -> Handler:
        """The path of an alias: it would tell who may not know a tool what its name is."""
        environment = self.environment

        def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
            policy, switches = environment.policy, environment.switches
            if may_know(call.ctx.principal, spec, policy=policy, switches=switches):
                return path(call)
            return self._unknown(call)

        return handle

    def _unless_not_theirs(self, source: str, path: Handler) -> Handler:
        """The path of a tool that somebody owns: for others there is no such tool."""
        index = self.environment.resource_index

        def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
            return self._unknown(call) if index.hides(call.ctx.principal, source) else path(call)

        return handle

    def _wait_and_resolve(self, paths: dict[str, Handler]) -> Handler:
        """The path of a name without a tool: waits for a source that has not answered yet."""

        async def handle(call: CallState) -> ToolResult:
            try:
                await wait_for_source(self.environment, call.name, deadline=call.deadline)
            except asyncio.CancelledError as error:
                return await record(None, self.environment, _raising(error))(call)
            if self._lookup(call.name) is None:
                return await self._unknown(call)
            return await self._resolve(call.name, paths)(call)

        return handle

    async def _refuse_unknown(self, call: CallState) -> ToolResult:
        reason = self.environment.why_missing(call.name)
        nearest = () if reason else tuple(self._nearest(call.name, call.ctx.principal))
        call.name = shorten_name(call.name)
        if reason:
            raise SourceUnavailable(f"'{call.name}' is unavailable: {reason}")
        raise ToolNotFound(call.name, nearest)


def _under(name: str, path: Handler) -> Handler:
    """The path of a tool that is called by its id: records and errors show its name."""

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        call.name = name
        return path(call)

    return handle


def _check_context(ctx: object) -> ToolContext[Any]:
    if ctx is None:
        return _DEFAULT_CONTEXT
    if isinstance(ctx, ToolContext):
        return cast("ToolContext[Any]", ctx)
    raise _not_a_context(ctx)


def _not_a_context(found: object) -> TypeError:
    return TypeError(
        f"ctx is a ToolContext, not a {type(found).__name__}: write ToolContext(principal=...)"
    )


def _at(index: int, ctx: ToolContext[Any] | None) -> ToolContext[Any] | None:
    if ctx is None or not ctx.idempotency_key:
        return ctx
    return structs.replace(ctx, idempotency_key=f"{ctx.idempotency_key}/{index}")


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
    """Run a batch of calls concurrently; results are in the order of the calls.

    An exclusive call splits the batch: it starts when the calls before it have ended, and those
    after it wait for it. Cancelling the batch cancels all its calls and waits for them.

    Args:
        count: How many calls.
        call: Runs the call at an index; never raises for a failed tool.
        is_exclusive: Whether the call at an index must run alone.
        concurrency: Calls in flight at once; 0 for no limit.
    """
    results: list[ToolResult] = []
    group: list[int] = []
    for index in range(count):
        if is_exclusive(index):
            results += await _run_together(group, call, concurrency)
            results += await _run_together([index], call, 1)
            group = []
        else:
            group.append(index)
    return results + await _run_together(group, call, concurrency)


async def _run_together(
    indexes: Sequence[int], call: Callable[[int], Awaitable[ToolResult]], concurrency: int
) -> list[ToolResult]:
    if not indexes:
        return []
    free = asyncio.Semaphore(concurrency or len(indexes))

    async def one(index: int) -> ToolResult:
        async with free:
            return await call(index)

    tasks = [asyncio.create_task(one(index)) for index in indexes]
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        await _cancel_and_wait(tasks)
        raise
    return [_interrupted_result() if task.cancelled() else task.result() for task in tasks]


async def _cancel_and_wait(tasks: "Sequence[asyncio.Task[ToolResult]]") -> None:
    """Cancel the tasks and wait until all have ended, even if this task is cancelled again."""
    for task in tasks:
        task.cancel()
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()


def _interrupted_result() -> ToolResult:
    error = ToolFailed("The tool cancelled its own call.")
    return ToolResult(content=str(error), is_error=True, error=error)
