from typing import Any

import pytest

from pegboard.cli.output.sources import count_of, describe_state, print_log_hint, reason_of


def _item(**said: Any) -> dict[str, Any]:
    return {
        "reason": "",
        "health_reason": "",
        "tools": 33,
        "unavailable": 0,
        "unavailable_reasons": [],
        "held": 0,
    } | said


def test_tools_that_cannot_be_used_are_counted_beside_the_others() -> None:
    assert (count_of(_item()), count_of(_item(unavailable=28))) == ("33", "33, 28 unavailable")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({}, ""),
        ({"reason": "down", "health_reason": "worse", "unavailable_reasons": ["key"]}, "down"),
        ({"health_reason": "worse"}, "worse"),
        ({"unavailable_reasons": ["set the key", "no sandbox"]}, "set the key; no sandbox"),
        ({"unavailable_reasons": list("abcde")}, "a; b; c; and 2 more reasons"),
        ({"held": 1}, "1 definition waits for approval: pegboard pins held"),
        (
            {"reason": "down", "held": 2},
            "down; 2 definitions wait for approval: pegboard pins held",
        ),
    ],
    ids=["well", "its own", "its health", "its tools", "many", "waiting", "both"],
)
def test_one_line_says_why(said: dict[str, Any], told: str) -> None:
    assert reason_of(_item(**said)) == told


@pytest.mark.parametrize(
    ("status", "told"),
    [("failed", "failed: no answer"), ("pending", "is pending: no answer")],
)
def test_a_state_is_told_after_a_name(status: str, told: str) -> None:
    assert describe_state({"status": status, "reason": "no answer"}) == told


def test_where_the_log_is_stands_below_what_speaks_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_log_hint(is_logged=False)
    nothing = capsys.readouterr().err
    print_log_hint(is_logged=True)

    assert (nothing, capsys.readouterr().err) == (
        "",
        "Set PEGBOARD_LOG=stderr to show the log.\n",
    )
