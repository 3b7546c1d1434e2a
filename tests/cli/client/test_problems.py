import pytest

from pegboard.cli.client.problems import to_error
from pegboard.cli.exit_codes import exit_code
from pegboard.core.result import error_to_dict
from pegboard.errors import ApprovalRequired, PegboardError, Problem, RateLimited, ToolNotFound
from pegboard.servers.http.problem_details import STATUSES, error_answer

URL = "http://127.0.0.1:1"


@pytest.mark.parametrize("kind", [kind for kind in STATUSES if kind is not PegboardError])
def test_every_error_comes_back_as_it_was(kind: type[PegboardError]) -> None:
    error = kind.__new__(kind, "What is wrong.")
    vars(error).update(problems=(Problem(path="a", message="No."),), approval_id="ap_1")
    vars(error).update(limit=2, used=2, unit="files", offset=7, resets_at=1700000000.0)
    answer = error_answer(error)
    back = to_error(answer.status, answer.body, url=URL)

    assert type(back) is kind
    assert error_to_dict(back) == error_to_dict(error)
    assert exit_code(back) == exit_code(error)


def test_what_an_error_carries_comes_back() -> None:
    limited = error_answer(RateLimited("Too fast.", retry_after=2.5))
    asked = error_answer(ApprovalRequired("a", "a rule", approval_id="ap_1"))

    back = to_error(limited.status, limited.body, url=URL)
    approval = to_error(asked.status, asked.body, url=URL)
    assert (back.retryable, back.retry_after) == (True, 2.5)
    assert error_to_dict(approval)["approval_id"] == "ap_1"


@pytest.mark.parametrize(
    ("status", "code", "exit_with"),
    [
        (404, "not_found", 2),
        (422, "request_invalid", 2),
        (403, "host_not_allowed", 1),
        (503, "extra_missing", 3),
        (500, "internal", 1),
    ],
)
def test_a_code_without_a_class_has_the_exit_code_of_its_status(
    status: int, code: str, exit_with: int
) -> None:
    error = to_error(status, {"code": code, "detail": "No."}, url=URL)

    assert (error.code, error.message, exit_code(error)) == (code, "No.", exit_with)


def test_an_answer_of_another_program_is_told() -> None:
    error = to_error(502, {}, url=URL)

    assert exit_code(error) == 3
    assert error.message == f"{URL} answered with status 502, and not as Pegboard does."


def test_a_class_keeps_its_own_code() -> None:
    to_error(404, {"code": "strange", "detail": "No."}, url=URL)

    assert ToolNotFound.code == "tool_not_found"
