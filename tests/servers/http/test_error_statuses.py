import inspect

import pytest

from pegboard import errors
from pegboard.errors import PegboardError, ToolFailed
from pegboard.servers.http.error_statuses import CODES, STATUSES, http_status

CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, PegboardError)
]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_has_a_row_of_its_own(kind: type[PegboardError]) -> None:
    assert kind in STATUSES


def test_the_table_names_nothing_that_is_no_error_of_ours() -> None:
    assert set(STATUSES) == set(CLASSES)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_what_may_pass_later_is_told_apart_from_what_does_not(kind: type[PegboardError]) -> None:
    is_in_progress = kind is errors.IdempotencyInProgress  # a 409, and yet retryable
    assert (STATUSES[kind] in {429, 503, 504} or is_in_progress) is kind.retryable


def test_a_class_of_somebody_else_has_the_status_of_its_parent() -> None:
    class _OutOfPaper(ToolFailed):
        code = "out_of_paper"

    assert http_status(_OutOfPaper("No paper.")) == 502


def test_a_code_stands_for_one_status_or_one_class() -> None:
    ours = {kind.code for kind in CLASSES}

    assert {code for code in CODES.values() if code in ours} == {"request_invalid", "access_denied"}
