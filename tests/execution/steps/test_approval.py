"""A call that the policy asks about runs once, after a person has said yes, or never."""

import asyncio
from typing import Any

import pytest
from tests.execution.made import (
    ADA,
    BOB,
    DONE,
    Following,
    Heard,
    a_call,
    a_kit,
    a_spec,
    a_target,
    a_use,
)

from pegboard import ToolRegistry, tool
from pegboard.access import Policy
from pegboard.core.context import ToolContext
from pegboard.core.decision import Decision, Verdict
from pegboard.core.event import ApprovalChanged
from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.tool import Effect
from pegboard.errors import AccessDenied, ApprovalRequired, ToolArgumentError, Unavailable
from pegboard.execution import CallEnvironment
from pegboard.execution.approval_requests import digest_edited_call
from pegboard.execution.emitter import Emitter
from pegboard.execution.limits.breakers import Breaker, Breakers
from pegboard.execution.steps.approval import approve, spend
from pegboard.testing import FakeClock

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
ASKED = a_spec(effect=Effect.ADMIN, input_schema=NUMBER)


async def asked(kit: CallEnvironment, raw: Any = None, **call: Any) -> str:
    """Make the call, which is asked about; the approval's id."""
    with pytest.raises(ApprovalRequired) as caught:
        await approve(a_target(ASKED), kit, Following())(_call(raw, **call))
    return caught.value.approval_id


def _call(raw: Any = None, **changes: Any) -> Any:
    from pegboard.execution.call_state import CallState

    raw = {"n": 1} if raw is None else raw
    call: CallState = a_call(raw, **changes)
    call.arguments = a_target(ASKED).read(raw)
    return call


async def stored(kit: CallEnvironment) -> list[Approval]:
    return list((await kit.approvals.approvals(ApprovalQuery())).approvals)


async def test_a_call_that_needs_an_approval_is_answered_with_the_reason_and_the_id() -> None:
    following, kit = Following(), a_kit()

    with pytest.raises(ApprovalRequired) as caught:
        await approve(a_target(ASKED), kit, following)(_call())

    (approval,) = await stored(kit)
    assert following.calls == 0
    assert caught.value.approval_id == approval.id
    assert str(caught.value) == (
        "Approval needed for 'find': the default for tools that administer is ask. "
        f"The tool was not run. Call it again, unchanged, once approval {approval.id} is given."
    )


async def test_the_reason_names_the_account_so_that_a_standing_approval_covers_no_other() -> None:
    kit = a_kit()
    for changes in ({"is_default": True}, {"identity": "octocat"}, {"id": "c2", "name": "home"}):
        call = _call()
        call.credential = a_use(**changes)
        with pytest.raises(ApprovalRequired):
            await approve(a_target(ASKED), kit, Following())(call)

    asked = "the default for tools that administer is ask, with the account"
    assert sorted(item.reason for item in await stored(kit)) == [
        f"{asked} github/home of ada",
        f"{asked} github/work (octocat) of ada",
        f"{asked} github/work of ada",
    ]


async def test_what_is_asked_is_stored_with_all_that_a_person_needs() -> None:
    clock = FakeClock()
    kit = a_kit(clock=clock, redact=lambda text: text.replace("hush", "***"))
    spec = a_spec(
        effect=Effect.ADMIN,
        version="1.2",
        input_schema={
            "type": "object",
            "properties": {"key": {"type": "string", "format": "password"}, "note": {}},
        },
    )
    raw = {"key": "k-1", "note": ["hush", "x" * 5_000, 1.5, None, {"deep": True}]}
    call = a_call(raw)
    call.arguments = raw
    with pytest.raises(ApprovalRequired):
        await approve(a_target(spec), kit, Following())(call)

    (approval,) = await stored(kit)
    assert (approval.tool, approval.version, approval.state) == ("find", "1.2", "pending")
    assert (approval.principal, approval.tenant, approval.run_id) == ("ada", "acme", "r1")
    assert approval.arguments is None
    assert approval.shown == {
        "key": "[redacted]",
        "note": ["***", f"{'x' * 4000}… (1000 more characters)", 1.5, None, {"deep": True}],
    }
    assert approval.expires_at == approval.created_at + 24 * 3600
    assert approval.created_at == clock.time()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ('{"n": 1}', {"n": 1}),
        (b'{"n": 1}', {"n": 1}),
        ({"n": 1, "x": float("nan")}, {"n": 1, "x": "nan"}),
        ({"n": 1, "x": 1 + 2j}, {"n": 1, "x": "(1+2j)"}),
    ],
    ids=["text", "bytes", "no number", "no json"],
)
async def test_arguments_are_shown_however_they_came(raw: Any, shown: Any) -> None:
    kit = a_kit()
    call = a_call(raw)
    call.arguments = {"n": 1}
    with pytest.raises(ApprovalRequired):
        await approve(a_target(ASKED), kit, Following())(call)

    assert [item.shown for item in await stored(kit)] == [shown]


async def test_the_same_call_asks_once_however_often_it_is_made() -> None:
    kit = a_kit()

    ids = {await asked(kit), await asked(kit, '{"n": 1}'), await asked(kit, {"n": 1.0})}

    assert len(ids) == 1
    assert len(await stored(kit)) == 1


@pytest.mark.parametrize(
    "other",
    [{"raw": {"n": 2}}, {"principal": BOB}, {"key": "another place of the run"}],
    ids=["arguments", "principal", "place"],
)
async def test_an_approval_is_good_for_no_other_call(other: dict[str, Any]) -> None:
    kit = a_kit()
    first = await asked(kit)
    await kit.approvals.decide(first, "approved", by="eve")

    assert await asked(kit, **other) != first


async def test_an_approval_is_not_good_for_another_version() -> None:
    kit = a_kit()
    await kit.approvals.decide(await asked(kit), "approved", by="eve")
    newer = a_spec(effect=Effect.ADMIN, input_schema=NUMBER, version="9.0")

    with pytest.raises(ApprovalRequired):
        await approve(a_target(newer), kit, Following())(_call())


async def test_an_approved_call_goes_on() -> None:
    kit, call = a_kit(), _call()
    approval = await asked(kit)
    await kit.approvals.decide(approval, "approved", by="eve")

    assert await approve(a_target(ASKED), kit, Following())(call) == DONE
    assert call.approval.id == approval


async def test_an_edited_call_goes_on_with_what_the_approver_wants() -> None:
    kit, call = a_kit(), _call('{"n": 1}')
    await asked(kit)
    (approval,) = await stored(kit)
    edited = {"n": "7"}
    digest = digest_edited_call(approval, edited)
    await kit.approvals.decide(approval.id, "edited", by="eve", edited=edited, edited_digest=digest)

    assert await approve(a_target(ASKED), kit, Following())(call) == DONE
    assert (call.arguments, call.raw) == ({"n": 7}, {"n": "7"})


@pytest.mark.parametrize(
    ("edited", "forged", "kind"),
    [({"n": "x"}, "", ToolArgumentError), ({"n": 7}, "forged", ApprovalRequired)],
    ids=["it does not fit", "it was changed in the store"],
)
async def test_an_edit_that_is_wrong_never_runs(
    edited: Any, forged: str, kind: type[Exception]
) -> None:
    kit, following = a_kit(), Following()
    await asked(kit)
    (approval,) = await stored(kit)
    digest = forged or digest_edited_call(approval, edited)
    await kit.approvals.decide(approval.id, "edited", by="eve", edited=edited, edited_digest=digest)

    with pytest.raises(kind):
        await approve(a_target(ASKED), kit, following)(_call())
    assert following.calls == 0


@pytest.mark.parametrize(
    ("note", "said"),
    [("not today", "eve refused it: not today"), ("", "eve refused it")],
    ids=["note", "no note"],
)
async def test_a_denied_call_is_refused_with_the_note(note: str, said: str) -> None:
    kit, following, call = a_kit(), Following(), _call()
    await kit.approvals.decide(await asked(kit), "denied", by="eve", note=note)

    with pytest.raises(AccessDenied, match=f"denied: {said}$"):
        await approve(a_target(ASKED), kit, following)(call)
    assert following.calls == 0
    assert call.decision == Decision(verdict=Verdict.DENY, reason=said, rule="approval.denied")


async def test_a_denied_call_names_the_person_and_not_the_id() -> None:
    async def find_name(principal_id: str) -> str:
        return {"u_17": "Eve Ott"}.get(principal_id, "")

    kit = a_kit(name_of=find_name)
    await kit.approvals.decide(await asked(kit), "denied", by="u_17")

    with pytest.raises(AccessDenied, match=r"denied: Eve Ott refused it$"):
        await approve(a_target(ASKED), kit, Following())(_call())


@pytest.mark.parametrize("verdict", ["approved", "denied", None], ids=["yes", "no", "nobody"])
async def test_what_has_expired_is_asked_anew(verdict: Any) -> None:
    clock = FakeClock()
    kit = a_kit(clock=clock)
    first = await asked(kit)
    if verdict:
        await kit.approvals.decide(first, verdict, by="eve")
    clock.advance(24 * 3600)

    second = await asked(kit)

    assert second != first
    assert await asked(kit) == second


async def test_without_a_limit_of_time_an_approval_waits_for_ever() -> None:
    from pegboard.execution import CallDefaults

    clock = FakeClock()
    kit = a_kit(clock=clock, settings=CallDefaults(approval_ttl=0))
    first = await asked(kit)
    clock.advance(10 * 365 * 24 * 3600)

    assert await asked(kit) == first


async def test_a_rule_that_became_deny_beats_the_approval() -> None:
    from pegboard import ToolRegistry, tool

    ran: list[int] = []

    @tool(effect="admin")
    async def wipe(n: int) -> str:
        """Wipe it."""
        ran.append(n)
        return "wiped"

    registry = ToolRegistry([wipe])
    first = await registry.call("wipe", {"n": 1})
    assert isinstance(first.error, ApprovalRequired)
    await registry.environment.approvals.decide(first.error.approval_id, "approved", by="eve")
    denied = await registry.with_policy(Policy(deny=("wipe",))).call("wipe", {"n": 1})
    registry.switches.turn_off(tool="wipe")
    switched = await registry.call("wipe", {"n": 1})
    registry.switches.turn_on(tool="wipe")

    assert (denied.error and denied.error.code, switched.error and switched.error.code) == (
        "access_denied",
        "access_denied",
    )
    assert ran == []
    assert (await registry.call("wipe", {"n": 1})).text == "wiped"


async def test_asking_is_an_event_and_only_once() -> None:
    heard = Heard()
    kit = a_kit(heard)
    first = await asked(kit)
    await asked(kit)

    (event,) = heard.events
    assert isinstance(event, ApprovalChanged)
    assert (event.approval_id, event.state, event.principal) == (first, "pending", ADA.id)


async def test_what_was_decided_of_the_call_counts_and_not_what_holds_for_its_tool() -> None:
    following = Following()
    handle = approve(a_target(ASKED), a_kit(), following)
    yes = Decision(verdict=Verdict.ALLOW, reason="a person said yes", rule="approval")
    ask = Decision(verdict=Verdict.ASK, reason="it costs money", rule="policy.ask[0]")

    assert await handle(_call(decision=yes)) == DONE
    with pytest.raises(ApprovalRequired, match="it costs money"):
        await handle(_call(decision=ask))
    assert following.calls == 1


def test_a_tool_that_is_allowed_pays_nothing() -> None:
    following = Following()
    policy = Policy(allow=("find",))

    assert approve(a_target(a_spec(effect=Effect.ADMIN)), a_kit(policy=policy), following) is (
        following
    )


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
    decided = await registry.environment.approvals.decide(error.approval_id, "approved", by="eve")
    assert decided.applied
    return error.approval_id


async def test_an_approved_call_runs_exactly_once() -> None:
    registry = ToolRegistry([wipe])
    first = await approved(registry)

    result = await registry.call("wipe", {"n": 1})
    again = await registry.call("wipe", {"n": 1})

    used = await registry.environment.approvals.get(first)
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

    registry = ToolRegistry([Shop()], environment=CallEnvironment(breakers=breakers))
    error = (await registry.call("find", {})).error
    assert isinstance(error, ApprovalRequired)
    await registry.environment.approvals.decide(error.approval_id, "approved", by="eve")
    guard = breakers.get("shop")
    assert guard is not None
    guard.record_failure(probe=False)

    refused = await registry.call("find", {})
    approval = await registry.environment.approvals.get(error.approval_id)

    assert refused.error is not None
    assert refused.error.code == "breaker_open"
    assert approval is not None
    assert approval.state == "approved"
    assert ran.calls == 0


async def test_a_call_that_is_asked_about_tells_nothing_of_its_source() -> None:
    breakers = Breakers()
    guard = Breaker("shop", threshold=1, recovery=0.0)
    breakers.add("shop", guard)
    guard.record_failure(probe=False)
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
    registry = ToolRegistry([wipe], environment=CallEnvironment(emitter=Emitter([heard])))
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


def test_a_tool_that_is_allowed_uses_no_approval_up_and_pays_nothing() -> None:
    following = Following()
    kit = a_kit(policy=Policy(allow=("find",)))

    assert spend(a_target(a_spec(effect=Effect.ADMIN)), kit, following) is following
