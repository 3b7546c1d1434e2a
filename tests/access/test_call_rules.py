"""Rules that look at the caller, the arguments and the time."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.access.made import ADA, PRINCIPALS, SPECS, a_spec

from pegboard.access import CallRule, Policy, Switches, decide, explain
from pegboard.access.namesakes import Namesakes
from pegboard.core.decision import Action, Decision, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, ToolSpec
from pegboard.errors import ConfigError, InvalidRequest

LARGE = CallRule(when="tool.name == 'shop__refund' && args.amount > 100", then=Verdict.ASK)
REFUND = a_spec("shop__refund", effect=Effect.WRITE)
BOB = Principal(id="bob", roles=frozenset({"guest"}))
MORNING = 1_767_250_800.0  # 2026-01-01, 07:00 UTC


def judge(
    policy: Policy,
    arguments: dict[str, Any] | None,
    spec: ToolSpec = REFUND,
    *,
    principal: Principal = ADA,
) -> Decision:
    return decide(principal, spec, Action.CALL, arguments, policy=policy, switches=Switches())


@pytest.mark.parametrize(
    ("amount", "verdict"),
    [
        (100, Verdict.ALLOW),
        (101, Verdict.ASK),
        (100.5, Verdict.ASK),
        (2**70, Verdict.ASK),
        ("101", Verdict.DENY),
        (None, Verdict.DENY),
    ],
    ids=repr,
)
def test_a_rule_looks_at_the_arguments(amount: object, verdict: Verdict) -> None:
    assert judge(Policy(rules=(LARGE,)), {"amount": amount}).verdict is verdict


def test_what_cannot_be_decided_is_denied_with_the_reason() -> None:
    decision = judge(Policy(rules=(LARGE,)), {})

    assert (decision.verdict, decision.rule) == (Verdict.DENY, "policy.rules[0]")
    assert "could not be decided" in decision.reason
    assert "amount" in decision.reason


def test_a_rule_for_one_tool_leaves_the_others_alone() -> None:
    policy = Policy(rules=(LARGE,))

    assert policy.find_call_rules(a_spec()) == ()
    assert judge(policy, {}, a_spec()).rule == "default.read"


@pytest.mark.parametrize(
    ("when", "principal", "verdict"),
    [
        ("principal.id == 'bob'", BOB, Verdict.DENY),
        ("principal.id == 'bob'", ADA, Verdict.ALLOW),
        ("'guest' in principal.roles && tool.effect == 'write'", BOB, Verdict.DENY),
        ("!('orders' in principal.scopes)", BOB, Verdict.DENY),
        ("!('orders' in principal.scopes)", ADA, Verdict.ALLOW),
        ("principal.tenant != 'acme'", ADA, Verdict.ALLOW),
        ("now.getHours('Europe/Berlin') < 9", ADA, Verdict.DENY),
        ("now.getHours() < 7", ADA, Verdict.ALLOW),
        ("tool.source == 'shop' && tool.name.matches('^shop__re')", ADA, Verdict.DENY),
    ],
)
def test_a_rule_looks_at_the_caller_the_tool_and_the_time(
    when: str, principal: Principal, verdict: Verdict
) -> None:
    policy = Policy(rules=(CallRule(when=when, then=Verdict.DENY),))
    policy = policy.bind(Namesakes(), now=lambda: MORNING)

    assert judge(policy, {}, principal=principal).verdict is verdict


@pytest.mark.parametrize(
    ("globs", "then", "rule"),
    [
        ({"deny": ("shop__*",)}, Verdict.ALLOW, "policy.deny[0]"),
        ({"ask": ("shop__*",)}, Verdict.ALLOW, "policy.ask[0]"),
        ({"ask": ("shop__*",)}, Verdict.DENY, "policy.rules[0]"),
        ({"allow": ("shop__*",)}, Verdict.ASK, "policy.rules[0]"),
        ({"effects": {Effect.WRITE: Verdict.DENY}}, Verdict.ALLOW, "policy.rules[0]"),
    ],
)
@pytest.mark.parametrize("when", ["true", "args.amount == 1"])
def test_deny_beats_ask_beats_allow_among_globs_and_rules(
    globs: dict[str, Any], then: Verdict, rule: str, when: str
) -> None:
    policy = Policy(**globs, rules=(CallRule(when=when, then=then),))

    assert judge(policy, {"amount": 1}).rule == rule


def test_the_reason_of_a_rule_is_what_the_caller_reads() -> None:
    rule = CallRule(when="args.amount > 100", then=Verdict.ASK, reason="more than 100 dollars")

    assert judge(Policy(rules=(rule,)), {"amount": 101}).reason == "more than 100 dollars"
    assert judge(Policy(rules=(LARGE,)), {"amount": 101}).reason == (
        f"the policy's ask rule '{LARGE.when}' holds"
    )


@pytest.mark.parametrize(
    ("when", "visible"),
    [
        ("principal.id == 'bob' && tool.name == 'shop__refund'", False),
        ("tool.name == 'shop__refund'", False),
        ("args.amount > 100", True),
        ("principal.roles[9] == 'x'", False),
    ],
    ids=["the caller", "the tool", "the arguments", "a failure"],
)
def test_a_list_leaves_out_what_is_denied_whatever_the_arguments(when: str, visible: bool) -> None:
    policy = Policy(rules=(CallRule(when=when, then=Verdict.DENY),))

    seen = decide(BOB, REFUND, Action.LIST, policy=policy, switches=Switches())

    assert seen.allowed is visible


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        ({"name": "pay_back", "target": "shop:refund"}, Verdict.DENY),
        ({"name": "refund", "registered_name": "shop__refund"}, Verdict.DENY),
        ({"name": "other", "target": "shop:find"}, Verdict.ALLOW),
    ],
    ids=["runs the same", "renamed", "runs something else"],
)
@pytest.mark.parametrize(
    "when",
    [
        "tool.name == 'shop__refund'",
        "tool['name'] == 'shop__refund' && args.amount > 1",
        "tool.name == 'shop__refund' && has(tool.source) && args.amount > 1",
    ],
)
def test_a_rule_that_restricts_follows_what_runs(
    second: dict[str, Any], verdict: Verdict, when: str
) -> None:
    namesakes = Namesakes()
    namesakes.put("shop__refund", "shop:refund")
    policy = Policy(rules=(CallRule(when=when, then=Verdict.DENY),)).bind(namesakes)

    assert judge(policy, {"amount": 2}, a_spec(**second)).verdict is verdict


def test_a_rule_that_allows_holds_for_the_name_alone() -> None:
    namesakes = Namesakes()
    namesakes.put("wipe", "shop:wipe")
    rule = CallRule(when="tool.name == 'wipe'", then=Verdict.ALLOW)
    policy = Policy(rules=(rule,)).bind(namesakes)
    other = a_spec("clean", target="shop:wipe", effect=Effect.ADMIN)

    assert judge(policy, {}, a_spec("wipe", effect=Effect.ADMIN)).verdict is Verdict.ALLOW
    assert judge(policy, {}, other).verdict is Verdict.ASK


def test_a_rule_is_sorted_anew_when_tools_come() -> None:
    namesakes = Namesakes()
    rule = CallRule(when="tool.name == 'shop__refund'", then=Verdict.DENY)
    policy = Policy(rules=(rule,)).bind(namesakes)
    spec = a_spec("pay_back", target="shop:refund")
    before = judge(policy, {}, spec).verdict
    namesakes.put("shop__refund", "shop:refund")
    policy.forget_decisions()

    assert (before, judge(policy, {}, spec).verdict) == (Verdict.ALLOW, Verdict.DENY)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"when": "tool.name ==", "then": "ask"}, "is no condition"),
        ({"when": "nobody.name == 'x'", "then": "ask"}, "is no condition"),
        ({"when": "'text'", "then": "ask"}, "neither true nor false"),
        ({"when": "true", "then": "maybe"}, "should be one of allow, ask, deny"),
        ({"when": "true" * 2_000, "then": "ask"}, "at most 4000 characters"),
        ({"when": "tool.nam == 'x'", "then": "deny"}, "no field 'tool.nam'; did you mean 'name'?"),
        (
            {"when": "run.trusted", "then": "deny"},
            r"no field 'run.trusted'; known are untrusted|did you mean 'untrusted'",
        ),
        ({"when": "principal['rolls'] == []", "then": "deny"}, "no field 'principal.rolls'"),
    ],
    ids=[
        *("broken", "unknown variable", "no boolean", "unknown verdict", "too long"),
        *("field of the tool", "field of the run", "field in brackets"),
    ],
)
def test_a_rule_that_is_none_is_refused(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        CallRule(**rule)


def test_a_mapping_in_place_of_a_rule_is_refused_with_what_to_write() -> None:
    rules: Any = ({"when": "true", "then": "ask"},)

    with pytest.raises(ConfigError, match="write \\(CallRule"):
        Policy(rules=rules)


def test_a_rule_that_holds_for_no_tool_is_unused() -> None:
    misspelt = CallRule(when="tool.name == 'shop__refnud' && args.amount > 1", then=Verdict.DENY)
    policy = Policy(rules=(LARGE, misspelt, CallRule(when="args.x == 1", then=Verdict.DENY)))

    unused = policy.find_unused([REFUND, a_spec()])

    assert [(rule.section, rule.key) for rule in unused] == [("rules", 1)]


@pytest.mark.parametrize(
    ("arguments", "checks", "verdict"),
    [
        (None, [("rules[0]", f"ask, where '{LARGE.when}'")], Verdict.ALLOW),
        ({"amount": 5}, [("rules[0]", "does not hold")], Verdict.ALLOW),
        (
            {"amount": 500},
            [("rules[0]", f"ask: the policy's ask rule '{LARGE.when}' holds")],
            Verdict.ASK,
        ),
    ],
    ids=["any call", "a small one", "a large one"],
)
def test_an_explanation_tells_of_the_rules(
    arguments: dict[str, Any] | None, checks: list[tuple[str, str]], verdict: Verdict
) -> None:
    policy = Policy(rules=(LARGE,))

    told = explain(ADA, REFUND, arguments, policy=policy, switches=Switches())

    assert list(told.checks[5:]) == checks
    assert told.call.verdict is verdict
    assert told.visible


CONDITIONS = st.sampled_from(
    [
        "tool.name == 'shop__refund'",
        "tool.name.startsWith('shop__') || args.n > 1",
        "has(args.n) && tool.effect == 'read'",
        "!has(args.n) && tool.source == 'crm'",
        "principal.id == 'ada' ? args.n > 1 : tool.name == 'wipe'",
        "'admin' in principal.scopes && args.n < 5",
        "args.n > 1 && args.n < 3",
        "tool.name in ['note', 'wipe'] && principal.roles[9] == 'x'",
        "true",
        "false",
    ]
)


@given(
    SPECS,
    PRINCIPALS,
    st.lists(st.tuples(CONDITIONS, st.sampled_from(Verdict)), max_size=3),
    st.dictionaries(st.just("n"), st.integers(0, 5) | st.just("x")),
)
def test_sorting_the_rules_by_tool_changes_no_decision(
    spec: ToolSpec,
    principal: Principal,
    rules: list[tuple[str, Verdict]],
    arguments: dict[str, Any],
) -> None:
    """What is decided is what each rule says of the whole call, the strictest first."""
    made = tuple(CallRule(when=when, then=then) for when, then in rules)
    data: dict[str, Any] = {
        "tool": {"name": spec.name, "effect": spec.effect.value, "source": spec.source},
        "principal": {"id": principal.id, "scopes": sorted(principal.scopes)},
        "args": arguments,
    }
    renamed = {**data["tool"], "name": spec.registered_name or spec.name}
    default = judge(Policy(), arguments, spec, principal=principal)

    found = judge(Policy(rules=made), arguments, spec, principal=principal)

    said = [
        verdict
        for rule in made
        for tool in (data["tool"], renamed)
        if (verdict := say(rule, {**data, "tool": tool})) is not None
    ]
    order = [Verdict.DENY, Verdict.ASK, Verdict.ALLOW]
    expected = min(said, key=order.index, default=default.verdict)
    assert found.verdict is (expected if default.rule.startswith("default.") else default.verdict)


def say(rule: CallRule, data: dict[str, Any]) -> Verdict | None:
    try:
        return rule.verdict if rule.condition.holds(data) else None
    except InvalidRequest:
        return Verdict.DENY
