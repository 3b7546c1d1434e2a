"""Rules over names: which one decides, what is remembered, which limits hold."""

from dataclasses import replace
from typing import Any

import pytest
from tests.access.made import a_spec

from pegboard.access import Policy
from pegboard.access.policy import _MAX_REMEMBERED, DEFAULT_EFFECTS
from pegboard.core.decision import Decision, Verdict
from pegboard.core.tool import Effect, Limits
from pegboard.errors import ConfigError


@pytest.mark.parametrize(
    ("rules", "rule"),
    [
        ({"deny": ("nobody", "shop__*"), "ask": ("*",), "allow": ("*",)}, "policy.deny[1]"),
        ({"ask": ("*find",), "allow": ("*",)}, "policy.ask[0]"),
        ({"allow": ("shop__f?nd",)}, "policy.allow[0]"),
        ({"deny": ("SHOP__*",)}, "default.read"),
        ({}, "default.read"),
    ],
    ids=["deny first", "ask before allow", "allow", "case matters", "none"],
)
def test_the_strictest_rule_that_matches_decides(rules: dict[str, Any], rule: str) -> None:
    assert Policy(**rules).decide(a_spec()).rule == rule


def test_a_rule_is_named_in_the_reason() -> None:
    assert Policy(ask=("*find",)).decide(a_spec()) == Decision(
        verdict=Verdict.ASK, reason="the policy's ask rule '*find' matches", rule="policy.ask[0]"
    )


@pytest.mark.parametrize("rule", ["deny", "ask", "allow"])
def test_a_rule_knows_a_renamed_tool_by_both_names(rule: str) -> None:
    spec = a_spec("find_it", registered_name="shop__find")
    old: dict[str, Any] = {rule: ("shop__find",)}
    new: dict[str, Any] = {rule: ("find_it",)}

    rules = [Policy(**globs).decide(spec).rule for globs in (old, new)]

    assert rules == [f"policy.{rule}[0]"] * 2


def test_an_effect_that_is_not_named_keeps_its_default() -> None:
    policy = Policy(effects={Effect.ADMIN: Verdict.DENY})

    verdicts = [policy.decide(a_spec(effect=effect)).verdict for effect in Effect]

    assert verdicts == [Verdict.ALLOW, Verdict.ALLOW, Verdict.DENY]


def test_the_defaults_cannot_be_changed_for_everybody() -> None:
    effects: Any = DEFAULT_EFFECTS

    with pytest.raises(TypeError):
        effects[Effect.ADMIN] = Verdict.ALLOW


@pytest.mark.parametrize("rule", ["deny", "ask", "allow"])
def test_one_text_in_the_place_of_globs_is_refused(rule: str) -> None:
    text: Any = "shop__*"

    with pytest.raises(ConfigError, match=f"'{rule}' takes several globs"):
        Policy(**{rule: text})


def test_effects_may_be_texts() -> None:
    texts: Any = {"write": "ask"}

    decision = Policy(effects=texts).decide(a_spec(effect=Effect.WRITE))

    assert (decision.verdict, decision.reason) == (
        Verdict.ASK,
        "the default for tools that write is ask",
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"effects": {"wirte": "deny"}}, "'wirte' should be one of read, write, admin"),
        ({"effects": {"write": "no"}}, "'no' should be one of allow, ask, deny"),
        ({"limits": {"a*": {"rate": 5}}}, r"limits of 'a\*' take Limits: write Limits\(rate=5\)"),
    ],
    ids=["effect", "verdict", "limits"],
)
def test_what_is_no_rule_is_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Policy(**said)


def test_a_judgement_is_remembered() -> None:
    policy, spec = Policy(), a_spec()

    assert policy.decide(spec) is policy.decide(spec)


def test_a_changed_policy_remembers_nothing_of_the_old_one() -> None:
    policy, spec = Policy(), a_spec()
    before = policy.decide(spec).verdict

    after = replace(policy, deny=("*",)).decide(spec).verdict

    assert (before, after) == (Verdict.ALLOW, Verdict.DENY)


def test_two_specs_that_are_equal_are_judged_by_what_they_are() -> None:
    policy = Policy(deny=("wipe",))

    assert policy.decide(a_spec("wipe")).verdict is Verdict.DENY
    assert policy.decide(a_spec("note")).verdict is Verdict.ALLOW


def test_what_is_remembered_is_bounded() -> None:
    policy, spec = Policy(), a_spec()
    policy._standing.update({-number: (spec, _ALLOWED) for number in range(_MAX_REMEMBERED)})

    policy.decide(spec)

    assert len(policy._standing) == 1


def test_every_limit_that_matches_holds() -> None:
    wide, narrow, own = Limits(rate=20), Limits(concurrency=4), Limits(rate=1)
    policy = Policy(limits={"shop__*": wide, "*find": narrow, "crm__*": Limits(rate=2)})

    limits = policy.limits_for(a_spec(limits=own))

    assert limits == (("shop__*", wide), ("*find", narrow), ("shop__find", own))


def test_a_renamed_tool_stays_under_its_limits() -> None:
    own, board = Limits(rate=1), Limits(rate=20)
    spec = a_spec("find_it", registered_name="shop__find", limits=own)

    limits = Policy(limits={"shop__*": board}).limits_for(spec)

    assert limits == (("shop__*", board), ("shop__find", own))


@pytest.mark.parametrize(
    "limits", [{"rate": 0}, {"rate": -1}, {"rate": 1, "per": 0}, {"concurrency": 0}]
)
def test_a_limit_that_lets_nothing_through_is_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="Limits"):
        Limits(**limits)


_ALLOWED = Decision(verdict=Verdict.ALLOW, reason="remembered", rule="none")


def test_rules_that_match_no_tool_are_known() -> None:
    policy = Policy(deny=("a__*", "typo__*", "old"), ask=("b",), limits={"c*": Limits(rate=1)})

    unused = policy.find_unused(
        [a_spec("a__x"), a_spec("cc"), a_spec("new", registered_name="old")]
    )

    assert unused == (("deny", 1, "typo__*"), ("ask", 0, "b"))


@pytest.mark.parametrize(
    ("rules", "rule"),
    [
        ({"deny": ("refund",)}, "policy.deny[0]"),
        ({"ask": ("ref*",), "allow": ("give",)}, "policy.ask[0]"),
        ({"allow": ("refund",)}, "default.read"),
        ({"deny": ("shop.tools*",)}, "default.read"),
    ],
    ids=["deny", "ask beats allow", "allow does not widen", "modules are no names"],
)
def test_rules_that_restrict_know_a_function_by_its_own_name(
    rules: dict[str, Any], rule: str
) -> None:
    assert Policy(**rules).decide(a_spec("give", target="shop.tools:refund")).rule == rule


def test_a_rule_that_a_function_s_own_name_matches_says_so() -> None:
    decision = Policy(deny=("refund",)).decide(a_spec("give", target="shop.tools:refund"))

    assert decision.reason == "the policy's deny rule 'refund' matches 'refund', which it runs"


def test_a_function_under_its_own_name_in_a_source_has_that_name_alone() -> None:
    spec = a_spec("shop__refund", action="refund", target="shop.tools:refund")

    assert Policy(deny=("refund",)).decide(spec).verdict is Verdict.ALLOW


def test_limits_hold_for_a_function_under_another_name() -> None:
    board = Limits(rate=20)

    limits = Policy(limits={"refund": board}).limits_for(a_spec("give", target="shop:refund"))

    assert limits == (("refund", board),)


def test_a_rule_that_matches_a_function_s_own_name_is_used() -> None:
    spec = a_spec("give", target="shop.tools:refund")

    unused = Policy(deny=("refund",), allow=("refund",)).find_unused([spec])

    assert unused == (("allow", 0, "refund"),)


@pytest.mark.parametrize(
    ("rules", "rule"),
    [
        ({"deny": ("refund",)}, "policy.deny[0]"),
        ({"ask": ("ref*",)}, "policy.ask[0]"),
        ({"allow": ("refund",)}, "default.admin"),
    ],
    ids=["deny", "ask", "allow does not widen"],
)
def test_an_alias_is_matched_by_rules_that_restrict(rules: Any, rule: str) -> None:
    spec = a_spec("std__refund", alias="refund", effect=Effect.ADMIN)

    decision = Policy(**rules).decide(spec)

    assert decision.rule == rule
    assert "which it runs" not in decision.reason


def test_a_rule_that_matches_an_alias_is_used_unless_it_allows() -> None:
    spec = a_spec("std__refund", alias="refund")

    unused = Policy(deny=("refund",), allow=("refund",)).find_unused([spec])

    assert unused == (("allow", 0, "refund"),)
