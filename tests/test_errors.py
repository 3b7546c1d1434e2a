"""What errors say: precise for the caller, and safe for anyone."""

import pytest

from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    CallerError,
    DuplicateTool,
    PegboardError,
    Problem,
    RateLimited,
    SyncUse,
    ToolArgumentError,
    ToolFailed,
    ToolNotFound,
    Unavailable,
)


def test_an_argument_error_has_one_line_a_problem() -> None:
    error = ToolArgumentError(
        "buy",
        (
            Problem(path="items[2].price", message="expected a number, found 'abc'", kind="type"),
            Problem(path="", message="expected an object, found a list", kind="type"),
        ),
    )

    assert str(error).splitlines() == [
        "Invalid arguments for 'buy':",
        "- items[2].price: expected a number, found 'abc'",
        "- expected an object, found a list",
    ]


@pytest.mark.parametrize(
    ("nearest", "message"),
    [
        ((), "Tool 'serch' not found."),
        (("search",), "Tool 'serch' not found. Did you mean 'search'?"),
        (("search", "seek"), "Tool 'serch' not found. Did you mean 'search' or 'seek'?"),
    ],
)
def test_an_unknown_tool_names_the_nearest(nearest: tuple[str, ...], message: str) -> None:
    assert str(ToolNotFound("serch", nearest)) == message


def test_a_long_unknown_name_is_cut() -> None:
    error = ToolNotFound("x" * 1_000_000)

    assert str(error) == f"Tool '{'x' * 100}…' not found."
    assert error.name == f"{'x' * 100}…"


def test_a_duplicate_names_both_origins_and_the_way_out() -> None:
    message = str(DuplicateTool("echo", "module a", "module b"))

    assert "from module b is already registered from module a" in message
    assert "on_conflict='replace'" in message


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (AccessDenied("pay", "writes are off"), "Access to 'pay' denied: writes are off"),
        (
            ApprovalRequired("pay", "it is an admin tool"),
            "Approval needed for 'pay': it is an admin tool. The tool was not run.",
        ),
    ],
)
def test_a_decision_is_told_with_its_reason(error: PegboardError, message: str) -> None:
    assert error.message == message


def test_an_error_without_a_message_is_called_by_its_name() -> None:
    assert CallerError().message == "CallerError"


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (ToolFailed("No."), False),
        (ToolNotFound("x"), False),
        (Unavailable("Later."), True),
        (RateLimited("Later."), True),
    ],
)
def test_only_what_later_may_help_is_retryable(error: PegboardError, retryable: bool) -> None:
    assert error.retryable is retryable


def test_unavailable_says_when_and_whether_anything_was_done() -> None:
    error = Unavailable("Down.", retry_after=3, nothing_done=True)

    assert (error.retry_after, error.nothing_done) == (3, True)
    assert Unavailable("Down.").nothing_done is False


def test_sync_use_is_a_value_error_too() -> None:
    assert issubclass(SyncUse, ValueError)
