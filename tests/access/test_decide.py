"""One function judges access; these are the promises that everything else builds on."""

from typing import Any

import pytest
from hypothesis import given
from tests.access.made import ADA, POLICIES, PRINCIPALS, SPECS, a_spec, switches

from pegboard.access import MAINTAINER_SCOPE, Policy, Switches, decide, may_know
from pegboard.core.decision import Action, Decision, Verdict
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Effect, Status, ToolSpec


def judged(spec: ToolSpec, principal: Principal = ADA, **options: Any) -> Decision:
    chosen: dict[str, Any] = {"policy": Policy(), "switches": Switches(), "action": Action.CALL}
    chosen |= options
    return decide(
        principal,
        spec,
        chosen["action"],
        {},
        policy=chosen["policy"],
        switches=chosen["switches"],
    )


@pytest.mark.parametrize(
    ("effect", "verdict"),
    [("read", Verdict.ALLOW), ("write", Verdict.ALLOW), ("admin", Verdict.ASK)],
)
def test_the_effect_decides_where_no_rule_does(effect: str, verdict: Verdict) -> None:
    assert judged(a_spec(effect=Effect(effect))).verdict is verdict


@pytest.mark.parametrize(
    ("changes", "rule", "reason"),
    [
        ({"status": Status.DISABLED}, "status.disabled", "the tool is disabled"),
        ({"status": Status.FAILED}, "status.failed", "the tool is failed"),
        ({"unavailable": "needs a key"}, "status.unavailable", "needs a key"),
        ({"scopes": ("orders", "money")}, "scopes", "the caller lacks the scope money"),
    ],
    ids=["disabled", "failed", "unavailable", "scope"],
)
@pytest.mark.parametrize("action", list(Action))
def test_what_cannot_be_called_is_denied_with_its_reason(
    changes: dict[str, Any], rule: str, reason: str, action: Action
) -> None:
    decision = judged(a_spec(**changes), action=action)

    assert decision == Decision(verdict=Verdict.DENY, reason=reason, rule=rule)


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.DEPRECATED])
def test_active_and_deprecated_tools_can_be_called(status: Status) -> None:
    assert judged(a_spec(status=status)).allowed


def test_a_caller_with_the_scopes_passes() -> None:
    assert judged(a_spec(scopes=("orders",))).allowed


def test_the_local_user_has_every_scope() -> None:
    assert judged(a_spec(scopes=("money",)), LOCAL).allowed


def test_a_tool_that_needs_an_approval_is_listed() -> None:
    decision = judged(a_spec(effect=Effect.ADMIN), action=Action.LIST)

    assert (decision.allowed, decision.rule) == (True, "list.ask")


def test_a_switch_is_obeyed_at_once() -> None:
    off, spec = Switches(), a_spec()
    before = judged(spec, switches=off).verdict
    off.turn_off(tool="shop__find", reason="it misbehaves")

    after = judged(spec, switches=off)

    assert before is Verdict.ALLOW
    assert (after.verdict, after.reason) == (Verdict.DENY, "it misbehaves")


@given(PRINCIPALS, SPECS, POLICIES, switches())
def test_deny_beats_ask_beats_allow(
    principal: Principal, spec: ToolSpec, policy: Policy, off: Switches
) -> None:
    decision = decide(principal, spec, Action.CALL, policy=policy, switches=off)
    names = [spec.name, spec.registered_name or spec.name]

    assert decision.verdict is _expected(principal, spec, policy, off, names)
    assert decision.reason
    assert decision.rule


@pytest.mark.slow
@pytest.mark.timeout(60)
@given(PRINCIPALS, SPECS, POLICIES, switches())
def test_only_of_a_tool_whose_standing_is_ask_is_a_call_answered_with_ask(
    principal: Principal, spec: ToolSpec, policy: Policy, off: Switches
) -> None:
    decision = decide(principal, spec, Action.CALL, policy=policy, switches=off)

    assert decision.verdict is not Verdict.ASK or policy.decide(spec).verdict is Verdict.ASK


@given(PRINCIPALS, SPECS, POLICIES, switches())
def test_what_is_listed_is_exactly_what_may_be_called_or_asked_for(
    principal: Principal, spec: ToolSpec, policy: Policy, off: Switches
) -> None:
    listed = decide(principal, spec, Action.LIST, policy=policy, switches=off)
    called = decide(principal, spec, Action.CALL, policy=policy, switches=off)

    assert listed.allowed is (called.verdict is not Verdict.DENY)


def _expected(
    principal: Principal, spec: ToolSpec, policy: Policy, off: Switches, names: list[str]
) -> Verdict:
    """The rule of the documentation, written down a second time and differently."""
    from fnmatch import fnmatchcase

    def named(globs: tuple[str, ...]) -> bool:
        return any(fnmatchcase(name, glob) for name in names for glob in globs)

    state: Any = off.state()
    closed = (
        set(names) & set(state["tools"])
        or spec.source in state["sources"]
        or (state["writes"] and spec.effect is not Effect.READ)
        or spec.status in {Status.DISABLED, Status.FAILED}
        or spec.unavailable
        or not ("*" in principal.scopes or set(spec.scopes) <= principal.scopes)
    )
    defaults = {Effect.READ: Verdict.ALLOW, Effect.WRITE: Verdict.ALLOW, Effect.ADMIN: Verdict.ASK}
    for matches, verdict in (
        (closed or named(policy.deny), Verdict.DENY),
        (named(tuple(map(str, policy.ask))), Verdict.ASK),
        (named(policy.allow), Verdict.ALLOW),
    ):
        if matches:
            return verdict
    return (defaults | dict(policy.effects))[spec.effect]


@pytest.mark.parametrize(
    ("changes", "policy", "principal", "known"),
    [
        pytest.param({}, Policy(), LOCAL, True, id="one that can be used"),
        pytest.param({"unavailable": "no key"}, Policy(), LOCAL, True, id="unavailable"),
        pytest.param({"status": Status.DISABLED}, Policy(), LOCAL, True, id="disabled"),
        pytest.param({"unavailable": "x"}, Policy(deny=("t",)), LOCAL, False, id="denied"),
        pytest.param(
            {"unavailable": "x", "scopes": ("s",)}, Policy(), Principal(id="p"), False, id="scope"
        ),
    ],
)
def test_what_cannot_be_used_is_known_to_whoever_might_use_it(
    changes: dict[str, object], policy: Policy, principal: Principal, known: bool
) -> None:
    spec = ToolSpec(name="t", input_schema={"type": "object"}).replace(**changes)

    assert may_know(principal, spec, policy=policy, switches=Switches()) is known


@pytest.mark.parametrize(
    ("scopes", "changes", "policy", "known"),
    [
        pytest.param({MAINTAINER_SCOPE}, {}, Policy(), True, id="who looks after the tools"),
        pytest.param({"switches:write"}, {}, Policy(), False, id="who throws switches"),
        pytest.param({MAINTAINER_SCOPE}, {}, Policy(deny=("t",)), False, id="denied"),
        pytest.param({MAINTAINER_SCOPE}, {"scopes": ("s",)}, Policy(), False, id="scope"),
    ],
)
def test_what_is_turned_off_is_known_to_whoever_looks_after_the_tools(
    scopes: set[str], changes: dict[str, object], policy: Policy, known: bool
) -> None:
    spec = ToolSpec(name="t", input_schema={"type": "object"}).replace(**changes)
    principal, switches = Principal(id="p", scopes=frozenset(scopes)), Switches()
    switches.turn_off(tool="t")

    assert may_know(principal, spec, policy=policy, switches=switches) is known
