"""What can be made out of a message that cannot be read."""

import pytest
from pydantic import ValidationError

from pegboard.sources.mcp.transport.malformed_messages import (
    PREFIX,
    answer_problem,
    describe_first_error,
    error_reply,
    read_answer,
)


@pytest.mark.parametrize(
    ("text", "number", "problem"),
    [
        (b'{"jsonrpc": "2.0", "id": 3, "result": {}}', 3, ""),
        (b'{"jsonrpc": "2.0", "id": "a", "error": 5}', "a", "at 'error': Input should be"),
        (b'{"jsonrpc": "2.0", "id": 3, "result": {"id": 4, "x": [1, "y', 3, "character 58 on"),
        (b'{"jsonrpc": "2.0", "id": 3, "result": {"a": nul}}', 3, "character 45 on"),
        (b'{"jsonrpc": "2.0", "id": 3, "result": {"a": "\xff"}}', 3, "not valid UTF-8"),
        (b'{"jsonrpc": "2.0", "id": 3, "result": {"a": "\\ud83d"}}', 3, "not valid UTF-8"),
        (b'[{"jsonrpc": "2.0", "id": 3, "result": {}}]', 3, "a batch of messages"),
        (b"[]", None, "a batch of messages"),
        (b'{"jsonrpc": "2.0", "id": true, "result": {}}', None, "at 'id"),
        (b'{"jsonrpc": "2.0", "id": 3, "method": 5}', None, "it is not a response"),
        (b"Shavings", None, "not JSON from character 1 on"),
        (b"7", None, "it is not an object"),
        (b'{"a": ' * 100_000, None, "nested too deeply"),
        (b'{"id": 3, "result": {"a": ' + b"[" * 3000 + b"]" * 3000 + b"}}", 3, "too deeply"),
    ],
    ids=[
        *("whole", "error", "cut", "word", "bytes", "surrogate", "batch", "no-batch", "bool"),
        *("request", "noise", "number", "deep", "deep answer"),
    ],
)
def test_the_request_and_the_problem_are_found(
    text: bytes, number: int | str | None, problem: str
) -> None:
    found = read_answer(text)

    assert found.id == number
    assert problem in found.problem


def test_a_reply_says_what_is_wrong_and_not_all_of_it() -> None:
    answer = error_reply(3, "x" * 5000)

    assert answer.error.message == PREFIX
    assert answer.error.data == "x" * 200


def test_a_message_that_is_wrong_as_a_whole_has_no_place() -> None:
    assert answer_problem({"jsonrpc": "2.0", "id": 3}) == "it has neither 'result' nor 'error'"
    error = ValidationError.from_exception_data(
        "x", [{"type": "dict_type", "loc": (), "input": "secret"}]
    )
    assert describe_first_error(error) == ""
