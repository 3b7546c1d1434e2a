"""An explanation tells the same answer as `decide`, with every check on the way."""

import json

from hypothesis import given
from tests.access.made import ADA, POLICIES, PRINCIPALS, SPECS, a_spec, switches

from pegboard.access import Policy, Switches, decide, explain
from pegboard.core.decision import Action, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, ToolSpec


def test_an_explanation_names_every_check_in_order() -> None:
    spec = a_spec("wipe", effect=Effect.ADMIN, scopes=("money",))

    told = explain(ADA, spec, policy=Policy(), switches=Switches())

    assert told.checks == (
        ("kill switches", "passed"),
        ("status", "passed"),
        ("availability", "passed"),
        ("scopes", "deny: the caller lacks the scope money"),
        ("policy", "ask: the default for tools that administer is ask"),
    )
    assert told.call.verdict is Verdict.DENY
    assert told.visible is False


def test_an_explanation_is_plain_data() -> None:
    told = explain(ADA, a_spec(), policy=Policy(allow=("*",)), switches=Switches()).to_dict()

    assert json.loads(json.dumps(told)) == {
        "tool": "shop__find",
        "principal": "ada",
        "verdict": "allow",
        "reason": "the policy's allow rule '*' matches",
        "rule": "policy.allow[0]",
        "visible": True,
        "checks": [
            {"check": "kill switches", "result": "passed"},
            {"check": "status", "result": "passed"},
            {"check": "availability", "result": "passed"},
            {"check": "scopes", "result": "passed"},
            {"check": "policy", "result": "allow: the policy's allow rule '*' matches"},
        ],
        "remedies": [],
    }


@given(PRINCIPALS, SPECS, POLICIES, switches())
def test_an_explanation_agrees_with_the_decision(
    principal: Principal, spec: ToolSpec, policy: Policy, off: Switches
) -> None:
    told = explain(principal, spec, policy=policy, switches=off)

    assert told.call == decide(principal, spec, Action.CALL, policy=policy, switches=off)
    assert told.visible is (told.call.verdict is not Verdict.DENY)


@given(PRINCIPALS, SPECS, POLICIES, switches())
def test_the_reason_is_among_the_checks(
    principal: Principal, spec: ToolSpec, policy: Policy, off: Switches
) -> None:
    told = explain(principal, spec, policy=policy, switches=off)

    assert f"{told.call.verdict}: {told.call.reason}" in [result for _, result in told.checks]
