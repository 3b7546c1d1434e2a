"""Conditions over any variables; those of graphs are tested with the graphs."""

from datetime import UTC, datetime
from typing import Any

import pytest

from pegboard.errors import InvalidRequest
from pegboard.schemas.conditions import ConditionLanguage, Mention

LANGUAGE = ConditionLanguage({"args": "object", "n": "integer", "now": "time", "x": "any"})


@pytest.mark.parametrize(
    ("text", "data", "expected"),
    [
        ("args.amount > 100", {"args": {"amount": 100.5}}, True),
        ("args.amount == null", {"args": {"amount": None}}, True),
        ("has(args.amount)", {"args": {}}, False),
        ("now.getHours('Asia/Tokyo') == 9", {"now": datetime(2026, 1, 1, tzinfo=UTC)}, True),
        ("n + 1 == 3", {"n": 2}, True),
        ("x == 'a' || x == ['a']", {"x": ["a"]}, True),
        ("args.amount > 100 && n == 1", {"n": 2}, False),
        ("args.amount > 100 || n == 2", {"n": 2}, True),
    ],
)
def test_a_condition_holds_or_does_not(text: str, data: dict[str, Any], expected: bool) -> None:
    assert LANGUAGE.compile(text).holds(data) is expected


@pytest.mark.parametrize("text", ["args.amount > 100 && n == 2", "has(args.amount)", "args.a.b"])
def test_a_condition_without_its_data_fails(text: str) -> None:
    with pytest.raises(InvalidRequest, match="failed"):
        LANGUAGE.compile(text).holds({"n": 2})


def test_a_condition_names_its_data() -> None:
    condition = LANGUAGE.compile("has(args.a) && args['b'].c[0] == x")

    assert condition.mentions == (
        Mention(root="args", keys=("a",), asked=True),
        Mention(root="args", keys=("b", "c", 0)),
        Mention(root="x"),
    )
    assert (condition.names("x"), condition.names("now")) == (True, False)


def test_other_languages_know_other_variables() -> None:
    with pytest.raises(InvalidRequest, match="is no condition"):
        LANGUAGE.compile("params.n > 1")
