"""What would let a caller in: each refusal with what lifts it, and nothing for who is in."""

from typing import Any

import pytest
from hypothesis import given
from tests.access.made import POLICIES, PRINCIPALS, SPECS, a_spec, switches
from tests.access.test_visibility import BOB, EVE, SHARED, TOOL, bind
from tests.storage.test_resources import a_resource

from pegboard.access import Policy, Switches, explain
from pegboard.access.policy import Ask, CallRule
from pegboard.access.remedies import RemedyStep
from pegboard.core.decision import Verdict
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Effect, Status, ToolSpec

MEMBER = Principal(
    id="u2",
    user="u2",
    organisations=frozenset({"acme"}),
    roles=frozenset({"acme/member"}),
    scopes=frozenset({"acme/tools:read"}),
    key="k1",
)


def kinds(steps: tuple[RemedyStep, ...]) -> list[tuple[str, list[str]]]:
    return [(step.check, [item.kind for item in step.any_of]) for step in steps]


@pytest.mark.parametrize(
    ("changes", "caller", "expected"),
    [
        (SHARED, EVE, ["join_organisation"]),
        (SHARED | {"publish_status": "approved"}, EVE, ["join_organisation", "install"]),
        (SHARED | {"publish_status": "pending"}, BOB, ["review"]),
        ({}, BOB, ["share"]),
    ],
    ids=["shared", "in the market", "in review", "private"],
)
def test_a_tool_that_is_not_seen_says_how_it_would_be(
    changes: dict[str, Any], caller: Principal, expected: list[str]
) -> None:
    policy = bind(Policy(), a_resource(name="ada--github", **changes))
    told = explain(caller, TOOL, policy=policy, switches=Switches())

    assert kinds(told.remedies)[0] == ("visibility", expected)


def test_every_refusal_has_its_step_and_all_are_needed() -> None:
    off = Switches()
    off.turn_off(writes=True)
    tool = a_spec(
        effect=Effect.WRITE, status=Status.DISABLED, unavailable="no key", scopes=("money",)
    )

    told = explain(
        MEMBER, tool, policy=Policy(deny=("shop__*",)), switches=off, quota="Used up. It begins."
    )

    assert kinds(told.remedies) == [
        ("kill switches", ["switch"]),
        ("status", ["switch"]),
        ("availability", ["wait"]),
        ("scopes", ["scope"]),
        ("roles", ["role", "role"]),
        ("key", ["key_scope"]),
        ("policy", ["policy"]),
        ("quotas", ["quota", "quota"]),
    ]


def test_a_missing_role_is_one_of_the_organisation_that_shares_the_source() -> None:
    both = Principal(id="u5", user="u5", organisations=frozenset({"acme", "zoo"}))
    policy = bind(Policy(), a_resource(name="ada--github", **SHARED))
    (step,) = explain(both, TOOL, policy=policy, switches=Switches()).remedies

    assert [item.text for item in step.any_of] == [
        "the role editor in 'acme'",
        "a role of 'acme' with the level write for 'ada--github'",
    ]


def test_a_call_that_is_asked_about_needs_an_approval_and_says_of_whom() -> None:
    policy = Policy(ask=(Ask("shop__*", by="other"),))
    (step,) = explain(LOCAL, a_spec(), policy=policy, switches=Switches()).remedies

    text = "a person other than the caller approves the call"
    assert step.to_dict() == {"check": "policy", "any_of": [{"kind": "approval", "text": text}]}


def test_a_rule_that_denies_this_call_is_named() -> None:
    policy = Policy(rules=(CallRule(when="args.amount > 100", then=Verdict.DENY),))
    spec = a_spec(input_schema={"type": "object"})
    amount = {"amount": 500}

    (step,) = explain(LOCAL, spec, amount, policy=policy, switches=Switches()).remedies
    assert step.any_of[0].text == "the operator changes the policy (policy.rules[0])"
    assert not explain(LOCAL, spec, policy=policy, switches=Switches()).remedies


def test_a_quota_refuses_what_everything_else_allows() -> None:
    told = explain(
        LOCAL,
        a_spec(),
        policy=Policy(),
        switches=Switches(),
        quota="It is used up. It begins anew.",
    )

    assert (told.call.verdict, told.call.rule, told.visible) == (Verdict.DENY, "quotas", True)
    assert told.remedies[0].any_of[0].text == "it begins anew"


@given(PRINCIPALS, SPECS, POLICIES, switches())
def test_who_may_call_without_an_approval_needs_nothing_and_others_something(
    principal: Principal, spec: ToolSpec, policy: Policy, off: Switches
) -> None:
    told = explain(principal, spec, policy=policy, switches=off)

    assert bool(told.remedies) is not told.call.allowed
    assert all(step.any_of for step in told.remedies)
