"""Three readers: what the model, the caller and the operator get of a failure."""

import asyncio
import json
import traceback
from typing import Any
from urllib.parse import quote

import pytest

from pegboard import errors
from pegboard.core.result import error_to_dict
from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    InvalidRequest,
    PegboardError,
    Problem,
    RateLimited,
    ToolArgumentError,
    ToolFailed,
    Unavailable,
)
from pegboard.execution.errors_for_readers import (
    describe_for_operator,
    make_failed_result,
    report_step_error,
    status_of,
    translate_error,
)

SECRET = "s3cr3t-value"


def hide(text: str) -> str:
    return text.replace(SECRET, "[redacted]")


@pytest.mark.parametrize(
    ("foreign", "kind", "sentence"),
    [
        (ConnectionRefusedError(SECRET), Unavailable, "'find' could not reach what it needs."),
        (TimeoutError(SECRET), Unavailable, "'find' could not reach what it needs."),
        (asyncio.CancelledError(SECRET), ToolFailed, "'find' was interrupted from within."),
        (ValueError(SECRET), ToolFailed, "'find' failed."),
        (SystemExit(SECRET), ToolFailed, "'find' failed."),
        (ExceptionGroup("two", [ValueError(SECRET), KeyError()]), ToolFailed, "'find' failed."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_foreign_error_becomes_ours_without_its_text(
    foreign: BaseException, kind: type[PegboardError], sentence: str
) -> None:
    error = translate_error("find", foreign)

    assert type(error) is kind
    assert str(error) == sentence
    assert error.__cause__ is foreign


def test_an_error_of_ours_stays_itself() -> None:
    error = ToolFailed("no")

    assert translate_error("find", error) is error


def test_an_unexpected_error_of_a_step_has_an_id_by_which_the_log_knows_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shown = report_step_error("agent", ValueError(f"it is {SECRET}"), hide)

    assert str(shown) == "'agent' failed."
    (record,) = caplog.records
    assert f"(error id {error_to_dict(shown)['error_id']})" in record.getMessage()
    assert "ValueError: it is [redacted]" in record.getMessage()


def test_an_expected_error_of_a_step_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert type(report_step_error("agent", TimeoutError())) is Unavailable
    assert caplog.records == []


def test_what_a_task_group_wraps_alone_is_taken_out() -> None:
    error = ToolFailed("Order 17 is shipped.")

    assert translate_error("find", ExceptionGroup("g", [ExceptionGroup("h", [error])])) is error


@pytest.mark.parametrize(
    ("error", "content"),
    [
        (InvalidRequest("No such order."), "No such order."),
        (Unavailable("It is down."), "It is down. It is unavailable now, try again later."),
        (
            RateLimited("Too many.", retry_after=2.5),
            "Too many. It is unavailable now, try again in 2.5 s.",
        ),
        (
            RateLimited("Too many.", retry_after=0.001),
            "Too many. It is unavailable now, try again in 0.1 s.",
        ),
        (ToolFailed("No stock.", error_id="e_1"), "No stock. (error id e_1)"),
    ],
    ids=["caller", "later", "when", "soon", "failed"],
)
def test_the_model_reads_what_it_can_act_on(error: PegboardError, content: str) -> None:
    result = make_failed_result(error)

    assert (result.content, result.is_error) == (content, True)
    assert type(result.error) is type(error)
    assert str(result.error) == str(error)


@pytest.mark.parametrize("error", [ToolFailed("no"), Unavailable("down")], ids=str)
def test_what_the_caller_cannot_mend_has_an_error_id(error: PegboardError) -> None:
    shown = make_failed_result(error).error
    again = make_failed_result(shown).error if shown is not None else None

    assert shown is not None
    assert again is not None
    assert shown.error_id is not None
    assert shown.error_id.startswith("e_")
    assert again.error_id == shown.error_id


@pytest.mark.parametrize(
    "error",
    [ToolFailed(f"no {SECRET}"), ToolArgumentError("find", (Problem(path=SECRET, message="x"),))],
    ids=lambda error: type(error).__name__,
)
def test_an_error_that_a_tool_keeps_stays_as_it_was(error: PegboardError) -> None:
    before, kept = error.args, dict(vars(error))

    first, second = (make_failed_result(error, hide).error for _ in range(2))

    assert (error.args, vars(error)) == (before, kept)
    assert first is not None
    assert second is not None
    assert len({id(error), id(first), id(second)}) == 3
    assert isinstance(error, ToolArgumentError) or first.error_id != second.error_id


def test_the_stack_of_an_error_that_is_raised_again_and_again_does_not_grow() -> None:
    error = ToolFailed("no")
    lengths: list[int] = []
    for _ in range(3):
        shown = make_failed_result(raised(error, ValueError("why"))).error
        assert shown is not None
        lengths.append(len(traceback.extract_tb(shown.__traceback__)))
        assert "ValueError: why" in describe_for_operator(shown)

    assert lengths == [1, 1, 1]
    assert error.__traceback__ is None


def test_what_the_caller_can_mend_needs_no_error_id() -> None:
    assert make_failed_result(InvalidRequest("no")).error.error_id is None  # type: ignore[union-attr]  # a failed result has one


def test_secrets_are_taken_out_of_the_sentence_and_of_each_problem() -> None:
    problem = Problem(path=SECRET, message=f'found "{SECRET}"')

    result = make_failed_result(ToolArgumentError("find", (problem,)), hide)

    assert result.error is not None
    assert SECRET not in f"{result.content}{error_to_dict(result.error)}"
    assert "[redacted]" in result.text


def test_a_sentence_that_is_not_text_is_left_alone() -> None:
    error: Any = ToolFailed(17)  # type: ignore[arg-type]  # whoever writes a tool may get it wrong

    assert make_failed_result(error, hide).text.startswith("17 (error id ")


def test_a_sentence_as_long_as_a_page_is_cut() -> None:
    result = make_failed_result(ToolFailed("<p>" * 100_000))

    assert len(result.text) < 8_100
    assert "…" in result.text


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (AccessDenied("find", "no"), "denied"),
        (ApprovalRequired("find", "ask"), "approval_needed"),
        (InvalidRequest("no"), "invalid"),
        (errors.ToolNotFound("fnd"), "invalid"),
        (Unavailable("down"), "unavailable"),
        (errors.ToolTimeout("late"), "unavailable"),
        (ToolFailed("no"), "failed"),
        (errors.ToolOutputError("no"), "failed"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_error_has_its_status(error: PegboardError, status: str) -> None:
    assert status_of(error) == status


def raised(error: PegboardError, cause: BaseException | None) -> PegboardError:
    try:
        raise error from cause
    except PegboardError as caught:
        return caught


def test_the_operator_reads_type_text_and_stack_of_the_cause() -> None:
    detail = describe_for_operator(raised(ToolFailed("no"), ValueError("no order 17")))

    assert "ValueError: no order 17" in detail
    assert "in raised" in detail


def test_not_even_the_operator_reads_a_known_secret() -> None:
    detail = describe_for_operator(
        raised(ToolFailed("no"), ValueError(f"key {SECRET} refused")), hide
    )

    assert "ValueError: key [redacted] refused" in detail


def test_the_detail_holds_nothing_that_looks_like_a_credential() -> None:
    error = ValueError("postgres://ada:PLANTED@h password=PLANTED, Authorization: Bearer PLANTED")
    detail = describe_for_operator(raised(ToolFailed("no"), error))

    assert "PLANTED" not in detail
    assert "ValueError: postgres://[redacted]@h" in detail


@pytest.mark.parametrize("value", ["PLANTED", 'PLAN"TED\n', "PLAN'TED"])
@pytest.mark.parametrize("quoted", [str, repr, json.dumps, quote], ids=lambda form: form.__name__)
def test_the_detail_holds_no_argument(value: str, quoted: Any) -> None:
    error = ValueError(f"bad value {quoted(value)}" + "x" * 100_000)
    detail = describe_for_operator(raised(ToolFailed("no"), error), hidden={value})

    assert quoted(value)[1:-1] not in detail


def test_of_more_arguments_than_can_be_looked_for_the_stack_is_kept() -> None:
    hidden = {f"PLANTED{number}" for number in range(2_000)}
    detail = describe_for_operator(raised(ToolFailed("no"), ValueError("PLANTED7")), hidden=hidden)

    assert "PLANTED" not in detail
    assert "in raised" in detail
    assert "ValueError: (not kept" in detail


def test_a_caller_error_needs_no_detail_unless_something_caused_it() -> None:
    assert describe_for_operator(InvalidRequest("no")) == ""
    assert "ValueError" in describe_for_operator(raised(InvalidRequest("no"), ValueError("x")))


def test_of_a_long_detail_the_end_is_kept() -> None:
    detail = describe_for_operator(raised(ToolFailed("no"), ValueError("x" * 50_000)))

    assert len(detail) == 16_001
    assert detail.startswith("…")
    assert detail.rstrip().endswith("ToolFailed: no")
