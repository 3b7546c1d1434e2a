"""The same key gives the first outcome; a key is free again only where nothing can happen twice."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from tests.execution.made import ADA, BOB, DONE, Following, a_call, a_kit, a_spec, a_target

from pegboard.core.event import digest_of
from pegboard.core.ports.call_stores import Outcome, OutcomeStore
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.core.stores.memory_results import MemoryOutcomes
from pegboard.core.tool import Effect, Retry, ToolSpec
from pegboard.errors import (
    IdempotencyConflict,
    InvalidRequest,
    PegboardError,
    RateLimited,
    StoreUnavailable,
    ToolFailed,
    ToolTimeout,
    Unavailable,
)
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.results.redaction import make_redactor
from pegboard.execution.steps.idempotency import idempotency
from pegboard.testing import FakeClock

WRITES = a_spec("pay", effect=Effect.WRITE)
READ = a_target(WRITES).read
PAID = ToolResult(content="paid", structured={"n": 1})


def asked(raw: Any = '{"n": 1}', *, key: str = "k", **changes: Any) -> CallState:
    """A call with a key; its arguments are read."""
    return a_call(raw, key=key, arguments=READ(raw), **changes)


class Keys:
    """Calls of one tool with keys, in one store."""

    def __init__(
        self, *outcomes: Any, spec: ToolSpec = WRITES, store: OutcomeStore | None = None, **kit: Any
    ) -> None:
        self.following: Any = Following(*(outcomes or (PAID,)))
        self.store = store or MemoryOutcomes()
        self.kit = a_kit(outcomes=self.store, **kit)
        self.spec = spec

    def handle(self, following: Callable[[CallState], Any] | None = None) -> Handler:
        after: Any = following or self.following
        return idempotency(a_target(self.spec, keyed=True), self.kit, after)

    async def call(
        self, *, key: str = "k", raw: Any = '{"n": 1}', principal: Principal = ADA
    ) -> tuple[ToolResult | PegboardError, CallState]:
        run = asked(raw, key=key, principal=principal)
        try:
            return await self.handle()(run), run
        except PegboardError as error:
            return error, run


async def test_the_same_call_with_the_same_key_runs_once() -> None:
    keys = Keys()

    first, run = await keys.call()
    second, again = await keys.call(raw={"n": 1})

    assert (first, second) == (PAID, PAID)
    assert keys.following.calls == 1
    assert (run.replayed, again.replayed) == (False, True)


async def test_values_make_arguments_the_same_and_not_how_they_are_written() -> None:
    run = asked('{"n": "1"}')
    run.arguments = {"n": 1}
    keys = Keys()
    await keys.call()

    result = await keys.handle()(run)

    assert (result, run.replayed, keys.following.calls) == (PAID, True, 1)


@pytest.mark.parametrize(
    "changes", [{"key": "other"}, {"principal": BOB}, {"principal": Principal(id="ada")}], ids=str
)
async def test_another_key_or_caller_is_another_call(changes: dict[str, Any]) -> None:
    keys = Keys()
    await keys.call()
    result, run = await keys.call(**changes)

    assert result == PAID
    assert not run.replayed
    assert keys.following.calls == 2


async def test_the_same_key_with_other_arguments_is_a_conflict() -> None:
    keys = Keys()
    await keys.call()
    conflict, _ = await keys.call(raw='{"n": 2}')

    assert isinstance(conflict, IdempotencyConflict)
    assert str(conflict) == ("The idempotency key 'k' was used for another call; take a new key.")
    assert keys.following.calls == 1


async def test_the_same_key_for_another_tool_is_a_conflict() -> None:
    keys, others = Keys(), Keys(spec=a_spec("refund"))
    others.kit = keys.kit
    await keys.call()
    conflict, _ = await others.call()

    assert isinstance(conflict, IdempotencyConflict)


class Slow:
    """Runs until it is told to land."""

    def __init__(self, outcome: ToolResult | Exception = PAID) -> None:
        self.begun, self.landing = asyncio.Event(), asyncio.Event()
        self.calls = 0
        self._outcome = outcome

    async def __call__(self, call: CallState) -> ToolResult:
        self.calls += 1
        call.attempts += 1
        self.begun.set()
        await self.landing.wait()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


async def test_who_asks_while_the_first_runs_waits_for_its_outcome() -> None:
    slow = Slow()
    handle = Keys().handle(slow)
    runs = [asked() for _ in range(5)]
    calls = [asyncio.ensure_future(handle(run)) for run in runs]
    await slow.begun.wait()
    await asyncio.sleep(0.01)
    slow.landing.set()

    assert await asyncio.gather(*calls) == [PAID] * 5
    assert slow.calls == 1
    assert [run.replayed for run in runs] == [False, True, True, True, True]


async def test_who_waits_in_vain_tries_for_themselves() -> None:
    slow, keys = Slow(InvalidRequest("no such order")), Keys()
    first = asyncio.ensure_future(keys.handle(slow)(asked()))
    await slow.begun.wait()
    second = asyncio.ensure_future(keys.handle()(asked()))
    await asyncio.sleep(0.01)
    slow.landing.set()

    with pytest.raises(InvalidRequest):
        await first
    assert await second == PAID


async def test_who_waits_stops_at_their_deadline(clock: FakeClock) -> None:
    slow, keys = Slow(), Keys(clock=clock)
    first = asyncio.ensure_future(keys.handle(slow)(asked()))
    await slow.begun.wait()

    with pytest.raises(ToolTimeout, match="did not end within this call's time") as caught:
        await keys.handle()(asked(deadline=clock.monotonic() + 0.005))

    assert (caught.value.retry_after, caught.value.nothing_done) == (1.0, True)
    slow.landing.set()
    assert await first == PAID


async def test_who_is_cancelled_while_waiting_changes_nothing() -> None:
    slow, keys = Slow(), Keys()
    first = asyncio.ensure_future(keys.handle(slow)(asked()))
    await slow.begun.wait()
    second = asyncio.ensure_future(keys.handle()(asked()))
    await asyncio.sleep(0.01)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    slow.landing.set()

    assert await first == PAID
    assert (await keys.call())[0] == PAID
    assert keys.following.calls == 0


async def test_who_asks_otherwise_while_the_first_runs_is_told_at_once() -> None:
    slow, keys = Slow(), Keys()
    first = asyncio.ensure_future(keys.handle(slow)(asked()))
    await slow.begun.wait()

    conflict, _ = await keys.call(raw='{"n": 2}')

    assert isinstance(conflict, IdempotencyConflict)
    slow.landing.set()
    assert await first == PAID


READS = a_spec("find")
IDEMPOTENT = a_spec("put", effect=Effect.WRITE, idempotent=True)
RETRIED = a_spec("put", effect=Effect.WRITE, retry=Retry())


@pytest.mark.parametrize(
    ("spec", "error", "runs"),
    [
        (WRITES, InvalidRequest("no such order"), 2),
        (WRITES, Unavailable("down", nothing_done=True), 2),
        (WRITES, Unavailable("down"), 1),
        (WRITES, ToolTimeout("late"), 1),
        (WRITES, ToolFailed("no"), 1),
        (WRITES, ValueError("a bug of ours"), 1),
        (READS, Unavailable("down"), 2),
        (IDEMPOTENT, ToolTimeout("late"), 2),
        (RETRIED, ToolTimeout("late"), 2),
        (READS, ToolFailed("no"), 1),
    ],
    ids=lambda value: getattr(value, "name", None) or repr(value),
)
async def test_a_failure_is_the_outcome_unless_nothing_can_happen_twice(
    spec: ToolSpec, error: Exception, runs: int
) -> None:
    keys = Keys(error, spec=spec)
    first, _ = await keys.call()
    second, run = await keys.call()

    assert keys.following.calls == runs
    assert run.replayed is (runs == 1)
    assert isinstance(first, PegboardError)
    replayed = second.error if isinstance(second, ToolResult) else second
    assert str(replayed) == str(first)
    assert type(replayed) is type(first)


async def test_a_call_that_was_refused_before_its_tool_leaves_the_key_free() -> None:
    keys = Keys()

    async def limited(_call: CallState) -> ToolResult:
        raise RateLimited("too many")

    with pytest.raises(RateLimited):
        await keys.handle(limited)(asked())

    assert (await keys.call())[0] == PAID


async def test_a_replayed_failure_keeps_its_error_id() -> None:
    keys = Keys(ToolFailed("no"))
    first, _ = await keys.call()
    second, _ = await keys.call()

    assert isinstance(first, ToolFailed)
    assert isinstance(second, ToolResult)
    assert second.error is not None
    assert first.error_id == second.error.error_id is not None


async def test_no_secret_is_kept_with_an_outcome() -> None:
    keys = Keys(ToolFailed("refused with s3cret"), redact=make_redactor(("s3cret",)))
    await keys.call()
    again, _ = await keys.call()

    assert isinstance(again, ToolResult)
    assert "s3cret" not in f"{again.content}{again.error}"


async def cancelled_midway(keys: Keys, *, started: bool) -> None:
    begun = asyncio.Event()

    async def hangs(call: CallState) -> ToolResult:
        call.attempts += started
        begun.set()
        await asyncio.sleep(60)
        return DONE

    task = asyncio.ensure_future(keys.handle(hangs)(asked()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_write_that_was_cancelled_midway_is_shown_as_unknown_and_never_run_again() -> None:
    keys = Keys()
    await cancelled_midway(keys, started=True)
    again, run = await keys.call()

    assert keys.following.calls == 0
    assert run.replayed
    assert isinstance(again, ToolResult)
    assert isinstance(again.error, IdempotencyConflict)
    assert "whether it took effect is unknown" in str(again.error)
    assert not again.error.retryable


@pytest.mark.parametrize("spec", [READS, IDEMPOTENT], ids=["reads", "idempotent"])
async def test_what_may_be_repeated_leaves_the_key_free_when_it_is_cancelled(
    spec: ToolSpec,
) -> None:
    keys = Keys(spec=spec)
    await cancelled_midway(keys, started=True)

    assert (await keys.call())[0] == PAID


async def test_a_write_that_was_cancelled_before_it_began_leaves_the_key_free() -> None:
    keys = Keys()
    await cancelled_midway(keys, started=False)

    assert (await keys.call())[0] == PAID


async def left_behind(spec: ToolSpec) -> Keys:
    """The keys of a process that came after a crash."""
    keys = Keys(spec=spec)
    claim = Outcome(
        key="k", owner="acme/ada", tool=spec.name, digest=digest_of({"n": 1}), created_at=0.0
    )
    await keys.store.claim(claim)
    return keys


async def test_a_claim_that_a_crash_left_behind_is_an_unknown_outcome_and_not_run() -> None:
    keys = await left_behind(WRITES)
    unknown, run = await keys.call()

    assert isinstance(unknown, ToolResult)
    assert isinstance(unknown.error, IdempotencyConflict)
    assert str(unknown.error) == (
        "The first call of 'pay' with this idempotency key never ended: whether it took effect is "
        "unknown. Look before you call it again under another key."
    )
    assert not unknown.error.retryable
    assert run.replayed
    assert keys.following.calls == 0


@pytest.mark.parametrize("spec", [READS, IDEMPOTENT], ids=["reads", "idempotent"])
async def test_what_may_be_repeated_is_run_again_after_a_crash(spec: ToolSpec) -> None:
    keys = await left_behind(spec)
    results = [(await keys.call())[0], (await keys.call())[0]]

    assert results == [PAID, PAID]
    assert keys.following.calls == 1


async def test_another_call_with_a_key_that_a_crash_left_behind_is_a_conflict() -> None:
    keys = await left_behind(READS)
    conflict, _ = await keys.call(raw='{"n": 2}')

    assert isinstance(conflict, IdempotencyConflict)


class SlowStore(MemoryOutcomes):
    """Takes its time, as a database does, and says where it is."""

    def __init__(self) -> None:
        super().__init__()
        self.claiming, self.settling = asyncio.Event(), asyncio.Event()

    async def claim(self, outcome: Outcome) -> Outcome | None:
        first = await super().claim(outcome)
        self.claiming.set()
        await asyncio.sleep(0.01)
        return first

    async def settle(self, claim: Outcome, result: ToolResult) -> None:
        self.settling.set()
        await asyncio.sleep(0.01)
        await super().settle(claim, result)


async def cancelled_at(keys: Keys, moment: asyncio.Event, *, times: int = 1) -> None:
    moment.clear()
    task = asyncio.ensure_future(keys.handle()(asked()))
    await moment.wait()
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
async def test_who_is_cancelled_while_claiming_gives_the_key_back(times: int) -> None:
    store = SlowStore()
    keys = Keys(store=store)
    await cancelled_at(keys, store.claiming, times=times)

    assert keys.following.calls == 0
    assert (await keys.call())[0] == PAID


async def test_who_is_cancelled_while_somebody_else_has_the_key_leaves_it_to_them() -> None:
    store = SlowStore()
    keys = Keys(store=store)
    await keys.call()
    await cancelled_at(keys, store.claiming)
    again, run = await keys.call()

    assert (again, run.replayed, keys.following.calls) == (PAID, True, 1)


async def test_an_outcome_is_written_down_although_its_caller_is_cancelled_meanwhile() -> None:
    store = SlowStore()
    keys = Keys(store=store)
    await cancelled_at(keys, store.settling)
    again, run = await keys.call()

    assert (again, run.replayed, keys.following.calls) == (PAID, True, 1)


class FullStore(MemoryOutcomes):
    """Claims, and then cannot write."""

    async def settle(self, claim: Outcome, result: ToolResult) -> None:
        raise Unavailable("the disk is full")


async def test_a_call_that_was_done_is_told_although_its_outcome_could_not_be_stored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keys = Keys(store=FullStore())

    with caplog.at_level(logging.ERROR, logger="pegboard.calls"):
        first, _ = await keys.call()
    again, _ = await keys.call()

    assert first == PAID
    said = [item.getMessage() for item in caplog.records if item.name == "pegboard.calls"]
    assert said == ["idempotency: outcome not stored, it stays unknown"]
    assert isinstance(again, ToolResult)
    assert "whether it took effect is unknown" in str(again.error)
    assert keys.following.calls == 1


class ClosedStore(MemoryOutcomes):
    async def claim(self, outcome: Outcome) -> Outcome | None:
        raise Unavailable("the store is closed", nothing_done=True)


async def test_without_a_claim_nothing_runs() -> None:
    keys = Keys(store=ClosedStore())
    refused, _ = await keys.call()

    assert isinstance(refused, Unavailable)
    assert keys.following.calls == 0


def test_a_call_without_a_key_pays_nothing() -> None:
    following = Following()

    assert idempotency(a_target(WRITES), a_kit(), following) is following


async def test_a_call_whose_start_was_not_stored_leaves_no_unknown_outcome_behind() -> None:
    """Although at first not even its key could be given back."""

    class Away(MemoryOutcomes):
        is_away = True

        async def release(self, claim: Outcome) -> None:
            if self.is_away:
                raise Unavailable("away")
            await super().release(claim)

    store = Away()
    keys = Keys(StoreUnavailable("away", nothing_done=True), PAID, store=store)
    refused, _ = await keys.call()
    again = asyncio.create_task(keys.call())
    await asyncio.sleep(0.02)
    waited, store.is_away = not again.done(), False
    paid, run = await again

    assert isinstance(refused, StoreUnavailable)
    assert (waited, paid, run.replayed) == (True, PAID, False)
