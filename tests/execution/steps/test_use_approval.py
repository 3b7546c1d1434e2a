"""An approval lets one call through, and nothing but running uses it up."""

import asyncio
from typing import Any

import pytest
from tests.execution.made import Following, Heard, a_call, a_kit, a_spec, a_target

from pegboard import ToolRegistry, tool
from pegboard.access import Policy
from pegboard.core.context import ToolContext
from pegboard.core.event import ApprovalChanged
from pegboard.core.tool import Effect
from pegboard.errors import AccessDenied, ApprovalRequired, Unavailable
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.execution.limits.breakers import Breaker, Breakers
from pegboard.execution.steps.use_approval import spend

RAN: list[int] = []


@tool(effect="admin")
async def wipe(n: int) -> str:
    """Wipe it."""
    RAN.append(n)
    await asyncio.sleep(0)
    if n < 0:
        raise Unavailable("The disk is away.", nothing_done=True)
    return f"wiped {n}"


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


async def approved(registry: ToolRegistry, n: int = 1, ctx: Any = None) -> str:
    """Have a call approved; the approval's id."""
    error = (await registry.call("wipe", {"n": n}, ctx)).error
    assert isinstance(error, ApprovalRequired)
    decided = await registry.kit.approvals.decide(error.approval_id, "approved", by="eve")
    assert decided.applied
    return error.approval_id


async def test_an_approved_call_runs_exactly_once() -> None:
    registry = ToolRegistry([wipe])
    first = await approved(registry)

    result = await registry.call("wipe", {"n": 1})
    again = await registry.call("wipe", {"n": 1})

    used = await registry.kit.approvals.get(first)
    assert result.text == "wiped 1"
    assert used is not None
    assert (used.state, used.call_id) == ("used", result.meta.call_id)
    assert isinstance(again.error, ApprovalRequired)
    assert again.error.approval_id != first
    assert RAN == [1]


async def test_of_many_calls_at_once_one_runs() -> None:
    registry = ToolRegistry([wipe])
    await approved(registry)

    results = await registry.call_many([("wipe", {"n": 1})] * 20)

    others = [result.error for result in results if result.is_error]
    assert RAN == [1]
    assert len(others) == 19
    assert all(isinstance(error, ApprovalRequired) for error in others)
    assert len({getattr(error, "approval_id", "") for error in others}) == 1


async def test_a_repeated_key_gives_the_first_outcome_and_asks_nobody() -> None:
    registry = ToolRegistry([wipe])
    ctx: ToolContext[Any] = ToolContext(idempotency_key="k1")
    await approved(registry, ctx=ctx)

    first = await registry.call("wipe", {"n": 1}, ctx)
    again = await registry.call("wipe", {"n": 1}, ctx)

    assert (first.text, again.text, again.meta.replayed) == ("wiped 1", "wiped 1", True)
    assert RAN == [1]


async def test_a_call_that_is_turned_away_leaves_the_approval_as_it_is() -> None:
    breakers = Breakers()
    breakers.add("shop", Breaker("shop", threshold=1))
    ran = Following()

    class Shop:
        spec = a_spec(effect=Effect.ADMIN, source="shop")

        async def run(self, _arguments: Any, _ctx: Any) -> Any:
            ran.calls += 1
            return "done"

    registry = ToolRegistry([Shop()], kit=CallEnvironment(breakers=breakers))
    error = (await registry.call("find", {})).error
    assert isinstance(error, ApprovalRequired)
    await registry.kit.approvals.decide(error.approval_id, "approved", by="eve")
    guard = breakers.get("shop")
    assert guard is not None
    guard.failed(probe=False)

    refused = await registry.call("find", {})
    approval = await registry.kit.approvals.get(error.approval_id)

    assert refused.error is not None
    assert refused.error.code == "breaker_open"
    assert approval is not None
    assert approval.state == "approved"
    assert ran.calls == 0


async def test_a_call_that_is_asked_about_tells_nothing_of_its_source() -> None:
    breakers = Breakers()
    guard = Breaker("shop", threshold=1, recovery=0.0)
    breakers.add("shop", guard)
    guard.failed(probe=False)
    spec = a_spec(effect=Effect.ADMIN, source="shop")
    kit = a_kit(breakers=breakers)
    from pegboard.execution.steps.circuit_breaker import breaker

    async def refuses(_call: Any) -> Any:
        raise ApprovalRequired("find", "somebody was first")

    with pytest.raises(ApprovalRequired):
        await breaker(a_target(spec), kit, refuses)(a_call())
    assert guard.state == "half_open"


async def test_an_approval_whose_time_passed_on_the_way_lets_nothing_through() -> None:
    kit, following = a_kit(), Following()
    spec = a_spec(effect=Effect.ADMIN)
    from pegboard.core.ports.approval_store import Approval

    approval = Approval(
        id="a1", digest="d1", tool="find", principal="ada", created_at=1, expires_at=2
    )
    await kit.approvals.ask(approval)
    with pytest.raises(ApprovalRequired) as caught:
        await spend(a_target(spec), kit, following)(a_call(approval=approval))

    assert following.calls == 0
    assert caught.value.approval_id not in {"", "a1"}


async def test_what_was_turned_off_while_the_call_waited_does_not_run_and_spends_nothing() -> None:
    kit, following = a_kit(), Following()
    spec = a_spec(effect=Effect.ADMIN)
    from pegboard.core.ports.approval_store import Approval

    approval = Approval(id="a1", digest="d1", tool="find", principal="ada", created_at=kit.now())
    await kit.approvals.ask(approval)
    await kit.approvals.decide("a1", "approved", by="eve")
    kit.switches.turn_off(tool="find")

    with pytest.raises(AccessDenied):
        await spend(a_target(spec), kit, following)(a_call(approval=approval))
    kept = await kit.approvals.get("a1")
    assert kept is not None
    assert (kept.state, following.calls) == ("approved", 0)


async def test_using_is_an_event_that_names_the_call() -> None:
    heard = Heard()
    registry = ToolRegistry([wipe], kit=CallEnvironment(emitter=Emitter([heard])))
    await approved(registry)
    result = await registry.call("wipe", {"n": 1})

    told = [event for event in heard.events if isinstance(event, ApprovalChanged)]
    assert [(event.state, event.call_id) for event in told] == [
        ("pending", ""),
        ("used", result.meta.call_id),
    ]


async def test_a_call_that_nobody_asked_about_spends_nothing() -> None:
    kit, following = a_kit(), Following()

    await spend(a_target(a_spec(effect=Effect.ADMIN)), kit, following)(a_call())

    assert following.calls == 1


def test_a_tool_that_is_allowed_pays_nothing() -> None:
    following = Following()
    kit = a_kit(policy=Policy(allow=("find",)))

    assert spend(a_target(a_spec(effect=Effect.ADMIN)), kit, following) is following
