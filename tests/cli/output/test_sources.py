from typing import Any

import pytest

from pegboard.cli.output.sources import count_of, print_log_hint, reason_of
from pegboard.runtime.sources.state import SourceState


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


def test_where_the_log_is_stands_below_what_speaks_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    well, logged = SourceState(name="a", kind="k"), SourceState(name="b", kind="k")
    logged.is_logged = True
    print_log_hint([well])
    nothing = capsys.readouterr().err
    print_log_hint([well, logged])

    assert (nothing, capsys.readouterr().err) == (
        "",
        "Set PEGBOARD_LOG=stderr to show the log.\n",
    )
