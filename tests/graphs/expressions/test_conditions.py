import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.graphs.expressions.conditions import compile_condition, holds
from pegboard.graphs.expressions.references import ABSENT, Reference
from pegboard.schemas.conditions import MAX_CHARACTERS

DATA: dict[str, Any] = {
    "params": {
        "n": 3,
        "f": 2.5,
        "s": "x",
        "big": 2**70,
        "absent": ABSENT,
        "yes": True,
        "l": (1, 2),
    },
    "steps": {
        "fetch": {"state": "completed", "output": {"items": [{"x": 1}], "count": 1}},
        "a-b": {"state": "skipped", "output": None},
    },
    "env": {"STAGE": "test"},
    "index": 0,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("params.n > 2", True),
        ("params.n > 2.5", True),
        ("params.f == 2.5 && params.n != 4", True),
        ("params.big > 1", True),
        ("params.yes", True),
        ("params.s in ['x', 'y']", True),
        ("has(params.absent)", False),
        ("has(params.n)", True),
        ("steps.fetch.output.count > 1", False),
        ("steps['a-b'].output == null", True),
        ("steps['a-b'].state == 'skipped'", True),
        ("steps.fetch.output.items[0].x == 1", True),
        ("steps.fetch.output.items.exists(i, i.x == 1)", True),
        ("steps.fetch.output.items.size() == 1 && size(params.l) == 2", True),
        ("env.STAGE == 'test'", True),
        ("index == 0", True),
        ("params.n > 2 || steps.missing.output > 1", True),
        ("params.s.startsWith('x')", True),
        ("'params.missing' == params.s", False),
        ("size(steps) == 2", True),
        ("double(params.n) * 1.5 > 4.0", True),
        ("true // params.missing", True),
    ],
)
def test_a_condition_holds_or_does_not(text: str, expected: bool) -> None:
    assert holds(text, DATA) is expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("params.missing == 1", "missing"),
        ("params.s", "neither true nor false: it gives a string"),
        ("params.n", "neither true nor false"),
        ("params.s > 1", "No matching overloads"),
        ("params.n * 1.5 > 1.0", r"write double\(...\)"),
        ("steps.missing.output", "missing"),
        ("item.x == 1", "item"),
        ("1", "neither true nor false"),
        ("[1,2].all(a, [1,2].all(b, params.s > 1))", "failed"),
    ],
)
def test_what_is_neither_true_nor_false_raises(text: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        holds(text, DATA)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 +", "Syntax error"),
        ("nothing > 1", "undeclared reference to 'nothing'"),
        ("'a' > 1", "no matching overload"),
        ("steps[0].output == 1", "no matching overload"),
        ("x" * (MAX_CHARACTERS + 1), "at most"),
        ("params.s == '\ud800'", "is no condition"),
    ],
)
def test_what_does_not_compile_says_why(text: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        compile_condition(text)


def test_loops_within_loops_run_out_of_budget_and_not_for_ever() -> None:
    text = "true"
    for name in "abcdefg":
        text = f"[0,1,2,3,4,5,6,7,8,9].all({name}, {text})"

    with pytest.raises(InvalidRequest, match="budget"):
        holds(text, DATA)


def test_parentheses_without_end_are_refused() -> None:
    with pytest.raises(InvalidRequest):
        holds("(" * 1_000 + "true" + ")" * 1_000, DATA)


def test_data_that_is_too_deep_is_refused_and_does_not_end_the_process() -> None:
    deep: Any = {}
    deep["self"] = deep

    with pytest.raises(InvalidRequest, match="levels"):
        holds("params.x.self == 1", {"params": {"x": deep}})


def test_a_condition_is_compiled_once() -> None:
    assert compile_condition("params.n == 99") is compile_condition("params.n == 99")


@pytest.mark.parametrize(
    ("text", "kind", "can"),
    [("1 == 1", "bool", True), ("params.n", "dyn", True), ("1 + 1", "int", False)],
)
def test_a_condition_knows_what_it_gives(text: str, kind: str, can: bool) -> None:
    condition = compile_condition(text)

    assert (condition.kind, condition.can_be_boolean) == (kind, can)


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("params.n > index", ["$.params.n", "$.index"]),
        ("steps.fetch.output.items[0].x == 1", ["$.steps.fetch.output.items[0].x"]),
        ("steps . fetch [ 'output' ].size() > 0", ["$.steps.fetch.output"]),
        ('has( steps.a.output.b) && item["c d"] == 1', ["$.steps.a.output.b?", "$.item['c d']"]),
        ('\'params.n\' == """steps.x""" // env.A', []),
        ("params.env.output.steps == 1", ["$.params.env.output.steps"]),
        ("[1].exists(x, x == output)", ["$.output"]),
    ],
)
def test_a_condition_knows_what_it_names(text: str, mentions: list[str]) -> None:
    found = [
        Reference(m.root, m.keys).text + ("?" if m.asked else "")
        for m in compile_condition(text).mentions
    ]

    assert found == mentions


class Watched(dict[str, Any]):
    """An output that nobody may look through."""

    def items(self) -> Any:
        raise AssertionError("this output was copied")


def test_only_what_a_condition_names_is_looked_at() -> None:
    data = {"params": {"n": 1}, "steps": {"large": Watched(x=1), "small": {"output": 1}}}

    assert holds("params.n == 1 && steps.small.output == 1", data)
    assert holds("steps.large.x == 1", data)


NUMBERS = st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBERS, NUMBERS)
def test_numbers_are_compared_whatever_their_kind(a: float, b: float) -> None:
    data = {"params": {"a": a, "b": b}}
    left, right = (
        float(x) if isinstance(x, int) and not -(2**63) <= x < 2**63 else x for x in (a, b)
    )

    assert holds("params.a < params.b", data) is (left < right)
    assert holds("params.a == params.b", data) is (left == right)


@given(st.text(max_size=30))
def test_no_text_is_a_condition_by_accident(text: str) -> None:
    with contextlib.suppress(InvalidRequest):
        assert compile_condition(text).text == text
