"""What identifies a message."""

import pytest

from pegboard.core.principal import LOCAL, Principal
from pegboard.features.conversations import MessageFile, NewMessage
from pegboard.features.conversations.new_message import digest_message, identify


def test_a_key_names_one_thing_of_one_caller() -> None:
    assert identify("m", LOCAL, "k") == identify("m", LOCAL, "k")
    assert identify("m", LOCAL, "k") != identify("c", LOCAL, "k")
    assert identify("m", LOCAL, "k") != identify("m", Principal(id="ada"), "k")
    assert identify("m", LOCAL, "") != identify("m", LOCAL, "")


def test_a_message_without_a_key_has_no_digest() -> None:
    assert digest_message(NewMessage(text="hi")) == ""


@pytest.mark.parametrize(
    "other",
    [
        NewMessage(text="ho", key="k"),
        NewMessage(text="hi", conversation="c", key="k"),
        NewMessage(text="hi", agent="", key="k"),
        NewMessage(text="hi", files=[MessageFile(name="a", data=b"2")], key="k"),
        NewMessage(
            text="hi", files=[MessageFile(name="a", data=b"1")], accounts={"a": "b"}, key="k"
        ),
    ],
    ids=["text", "conversation", "agent", "file", "accounts"],
)
def test_the_digest_covers_what_a_message_asks_for(other: NewMessage) -> None:
    first = NewMessage(text="hi", files=[MessageFile(name="a", data=b"1")], key="k")

    assert digest_message(first) == digest_message(
        NewMessage(text="hi", files=[MessageFile(name="a", data=b"1")], key="k")
    )
    assert digest_message(first) != digest_message(other)
