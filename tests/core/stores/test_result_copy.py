"""What is kept shares nothing that can change with what was given away."""

from typing import Self

import pytest

from pegboard.core.result import ToolResult, error_to_dict
from pegboard.core.stores.result_copy import detach, without_traceback
from pegboard.errors import (
    Problem,
    RateLimited,
    ToolArgumentError,
    ToolFailed,
    ToolNotFound,
    Unavailable,
)


def test_changing_what_was_given_does_not_change_the_copy() -> None:
    result = ToolResult(content="x", structured={"items": [{"n": 1}], "tuple": (1,)})
    copy = detach(result)

    result.structured["items"][0]["n"] = 2
    result.structured["items"].append(3)

    assert copy.structured == {"items": [{"n": 1}], "tuple": (1,)}
    assert copy.content == "x"


@pytest.mark.parametrize("structured", [None, "text", 5])
def test_a_result_that_cannot_change_is_its_own_copy(structured: object) -> None:
    result = ToolResult(content="x", structured=structured)

    assert detach(result) is result


@pytest.mark.parametrize(
    "error",
    [
        ToolFailed("no", error_id="e_1"),
        RateLimited("wait", retry_after=3, nothing_done=True),
        ToolNotFound("fnd", ("find",)),
        ToolArgumentError("find", (Problem(path="q", message="missing", kind="missing"),)),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_copy_of_an_error_says_the_same_without_stack_and_cause(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        raise error from ValueError("secret")
    raised = caught.value
    assert isinstance(raised, (ToolFailed, RateLimited, ToolNotFound, ToolArgumentError))

    copy = detach(ToolResult(is_error=True, error=raised)).error

    assert copy is not None
    assert type(copy) is type(raised)
    assert error_to_dict(copy) == error_to_dict(raised)
    assert vars(copy) == vars(raised)
    assert (copy.__traceback__, copy.__cause__, copy.__context__) == (None, None, None)


class _Numbered(ToolFailed):
    def __new__(cls, number: int, text: str) -> Self:
        return super().__new__(cls, number, text)

    def __init__(self, number: int, text: str) -> None:
        super().__init__(f"{number}: {text}")
        self.number = number


class _Lost(Unavailable, ConnectionError):
    pass


@pytest.mark.parametrize("error", [_Numbered(7, "no"), _Lost("gone")], ids=str)
def test_an_error_that_is_made_in_its_own_way_is_copied_too(error: ToolFailed) -> None:
    copy = without_traceback(error)

    assert type(copy) is type(error)
    assert copy is not error
    assert (str(copy), vars(copy)) == (str(error), vars(error))
