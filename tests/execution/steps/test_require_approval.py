"""A call that the policy asks about runs once, after a person has said yes, or never."""

from typing import Any

import pytest
from tests.execution.made import ADA, BOB, DONE, Following, Heard, a_call, a_kit, a_spec, a_target

from pegboard.access import Policy
from pegboard.core.decision import Decision, Verdict
from pegboard.core.event import ApprovalChanged
from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.tool import Effect
from pegboard.errors import AccessDenied, ApprovalRequired, ToolArgumentError
from pegboard.execution import CallEnvironment
from pegboard.execution.approval_requests import edited_digest
from pegboard.execution.steps.require_approval import approve
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
    digest = edited_digest(approval, edited)
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
    digest = forged or edited_digest(approval, edited)
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
    await registry.kit.approvals.decide(first.error.approval_id, "approved", by="eve")
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
