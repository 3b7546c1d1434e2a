import re
from pathlib import Path

import pytest

from pegboard.access import CallRule, Policy
from pegboard.core.decision import Verdict
from pegboard.core.tool import Effect, Limits
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import parse_board
from pegboard.runtime.board_file.policy import policy_of, with_policy

PATH = Path("/somewhere/board.yaml")


def _policy(text: str) -> Policy:
    return policy_of(parse_board(text, {}, path=PATH))


def test_rules_are_taken_over() -> None:
    policy = _policy("policy: {deny: [a], ask: [b], allow: [c], effects: {write: ask}}")

    assert (policy.deny, policy.ask, policy.allow) == (("a",), ("b",), ("c",))
    assert policy.effects[Effect.WRITE] is Verdict.ASK
    assert policy.effects[Effect.READ] is Verdict.ALLOW


def test_rules_over_calls_are_taken_over() -> None:
    policy = _policy("policy: {rules: [{when: 'args.n > 1', then: ask, reason: many}]}")

    assert policy.rules == (CallRule(when="args.n > 1", then=Verdict.ASK, reason="many"),)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{when: 'args.n >', then: ask}", "'args.n >' is no condition"),
        ("{when: '1 + 1', then: ask}", "neither true nor false"),
    ],
)
def test_what_is_no_rule_is_told_with_its_line(rule: str, said: str) -> None:
    with pytest.raises(ConfigError, match=rf"board\.yaml:3: .*{re.escape(said)}"):
        _policy(f"policy:\n  rules:\n    - {rule}\n")


@pytest.mark.parametrize(
    ("rate", "limits"),
    [
        pytest.param("20/s", Limits(rate=20, per=1), id="per second"),
        pytest.param("100/min", Limits(rate=100, per=60), id="per minute"),
        pytest.param("1000 / hour", Limits(rate=1000, per=3600), id="per hour, spaced"),
        pytest.param("5/10s", Limits(rate=5, per=10), id="per ten seconds"),
        pytest.param("0.5/s", Limits(rate=0.5, per=1), id="a fraction"),
        pytest.param("7/days", Limits(rate=7, per=86400), id="per day"),
    ],
)
def test_a_rate_is_read(rate: str, limits: Limits) -> None:
    assert _policy(f"policy: {{limits: {{'*': {{rate: '{rate}'}}}}}}").limits["*"] == limits


def test_concurrency_alone_is_a_limit() -> None:
    assert _policy("policy: {limits: {x: {concurrency: 3}}}").limits["x"] == Limits(concurrency=3)


@pytest.mark.parametrize("rate", ["fast", "5", "0/s", "5/0s", "-1/s", "5/week"])
def test_what_is_no_rate_is_told_with_its_line(rate: str) -> None:
    with pytest.raises(ConfigError, match=r"board\.yaml:3: .* is not a rate; write it as '20/s'"):
        _policy(f"policy:\n  limits:\n    'x*': {{rate: '{rate}'}}\n")


@pytest.mark.parametrize("effects", ["{reed: allow}", "{read: maybe}"])
def test_an_unknown_effect_or_verdict_is_told_with_its_line(effects: str) -> None:
    with pytest.raises(ConfigError, match=r"board\.yaml:2: .* should be one of"):
        _policy(f"policy:\n  effects: {effects}\n")


@pytest.mark.parametrize("policy", ["{deny: ['[bad']}", "{limits: {'x[': {rate: 1/s}}}"])
def test_a_glob_that_would_match_nothing_is_refused(policy: str) -> None:
    with pytest.raises(ConfigError, match=r"board\.yaml:1: .* an unclosed"):
        _policy(f"policy: {policy}")


def test_a_program_gives_the_rules_where_the_file_has_none() -> None:
    given = Policy(deny=("a",))
    loaded = parse_board("policy: {strict: true}", {}, path=PATH)

    assert policy_of(with_policy(loaded, given)) is given
    assert policy_of(with_policy(loaded, None)) == Policy(untrusted=Verdict.ASK)


def test_rules_in_two_places_are_refused() -> None:
    loaded = parse_board("sources: []\npolicy: {deny: [a]}", {}, path=PATH)

    with pytest.raises(ConfigError, match=r"board.yaml:2: the program gives a policy too"):
        with_policy(loaded, Policy())
