"""A message of the caller allows one write: what counts as the same once more."""

from typing import Any

import pytest

from pegboard.access.own_writes import OwnWrite, describe_write, find_same_write
from pegboard.core.tool import ToolSpec

SPEC = ToolSpec(name="send", input_schema={"properties": {"urgent": {"default": False}}})


def a_write(arguments: dict[str, Any], *, run: str = "r1", spec: ToolSpec = SPEC) -> OwnWrite:
    return describe_write(spec, arguments, call_id="c_2", run=run)


def repeats(
    arguments: dict[str, Any], earlier: dict[str, Any], *, carries_text: bool = True
) -> bool:
    found = find_same_write(a_write(arguments), [a_write(earlier)], carries_text=carries_text)
    return found is not None


@pytest.mark.parametrize(
    ("arguments", "earlier"),
    [
        ({"to": "bob", "body": "pay me"}, {"to": "bob", "body": "hello"}),
        ({"to": "Bob ", "body": "pay me"}, {"to": "bob", "body": "hello"}),
        ({"to": ["bob"], "body": "x"}, {"to": ["alice", "bob"], "body": "hello"}),
        ({"to": ["eve", "bob"], "body": "x"}, {"to": ["bob"], "body": "hello"}),
        ({"to": "bob", "thread": "the", "body": "x"}, {"to": "bob", "body": "hello"}),
        ({"to": "bob", "urgent": True, "body": "x"}, {"to": "bob", "body": "hello"}),
        ({"to": "bob", "at": "2024-06-14", "body": "x"}, {"to": "bob", "at": "2024-06-13"}),
        ({"text": "x"}, {"text": "hello"}),
        ({"to": {"name": "bob"}, "body": "x"}, {"to": {"name": "bob"}}),
    ],
)
def test_another_text_for_the_same_makes_no_other_write(
    arguments: dict[str, Any], earlier: dict[str, Any]
) -> None:
    assert repeats(arguments, earlier)


@pytest.mark.parametrize(
    ("arguments", "earlier"),
    [
        ({"to": "alice", "body": "hello"}, {"to": "bob", "body": "hello"}),
        ({"to": "bob", "amount": 200}, {"to": "bob", "amount": 100}),
        ({"to": ["alice"], "body": "x"}, {"to": ["bob", "carol"], "body": "x"}),
    ],
)
def test_a_write_to_something_else_is_another_one(
    arguments: dict[str, Any], earlier: dict[str, Any]
) -> None:
    assert not repeats(arguments, earlier)


def test_texts_of_the_caller_make_two_writes_and_the_same_one_does_not() -> None:
    bye, hello = {"to": "bob", "body": "bye"}, {"to": "bob", "body": "hello"}

    assert not repeats(bye, hello, carries_text=False)
    assert repeats(hello, hello, carries_text=False)


def test_another_tool_and_another_answer_repeat_nothing() -> None:
    arguments = {"to": "bob", "body": "hello"}
    other = SPEC.__class__(name="post", input_schema=SPEC.input_schema)
    alias = SPEC.__class__(name="mail", input_schema=SPEC.input_schema, target="send")
    earlier = [a_write(arguments, run="r2"), a_write(arguments, spec=other)]

    assert find_same_write(a_write(arguments), earlier, carries_text=True) is None
    aliased = a_write(arguments, spec=alias)
    assert find_same_write(a_write(arguments), [aliased], carries_text=True) is aliased


def test_very_many_arguments_are_read_as_far_as_they_are_traced() -> None:
    write = a_write({f"a{number}": number for number in range(10_000)})

    assert len(write.targets) == 200
