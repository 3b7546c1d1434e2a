"""Whether a call may be done again."""

import pytest
from tests.execution.made import a_spec

from pegboard.core.tool import AGENT, Effect, Retry
from pegboard.errors import InvalidRequest, PegboardError, ToolFailed, Unavailable
from pegboard.execution.retry_rules import did_nothing, is_repeatable

TRY = Retry()


@pytest.mark.parametrize(
    ("effect", "idempotent", "retry", "expected"),
    [
        ("read", None, None, True),
        ("read", False, None, True),
        ("read", False, TRY, True),
        ("write", None, None, False),
        ("write", None, TRY, True),
        ("write", True, None, True),
        ("write", True, TRY, True),
        ("write", False, None, False),
        ("write", False, TRY, False),
        ("admin", None, TRY, True),
        ("admin", False, TRY, False),
    ],
)
def test_a_tool_may_be_repeated_if_it_reads_or_its_author_says_so(
    effect: str, idempotent: bool | None, retry: Retry | None, expected: bool
) -> None:
    spec = a_spec(effect=Effect(effect), idempotent=idempotent, retry=retry)

    assert is_repeatable(spec) is expected


@pytest.mark.parametrize(("idempotent", "expected"), [(None, True), (False, False)])
def test_an_agent_goes_on_and_may_be_called_again(idempotent: bool | None, expected: bool) -> None:
    an_agent = a_spec(effect=Effect.WRITE, handler=AGENT, idempotent=idempotent)

    assert is_repeatable(an_agent) is expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Unavailable("down", nothing_done=True), True),
        (Unavailable("down"), False),
        (ToolFailed("no"), False),
        (InvalidRequest("no"), False),
    ],
    ids=str,
)
def test_only_an_attempt_that_says_so_did_nothing(error: PegboardError, expected: bool) -> None:
    assert did_nothing(error) is expected
