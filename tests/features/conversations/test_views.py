"""Conversations for display."""

from typing import Any

import pytest
from msgspec import structs
from tests.features.conversations.test_history import an_exchange

from pegboard.core.knowledge import Citation
from pegboard.core.ports.conversation_store import Conversation
from pegboard.features.conversations.schemas import ConversationAnswer
from pegboard.features.conversations.views import render_markdown, view_conversation

CALLED = {"role": "assistant", "calls": [{"name": "find", "arguments": '{"n":7}'}]}
SAID = {"role": "assistant", "text": "It is here."}
TREE = [
    an_exchange("a", messages=(CALLED, {"role": "tool", "text": "x"}, SAID), state="completed"),
    an_exchange("b", "a", state="failed", error={"message": "busy"}),
    an_exchange("old", "a", state="cancelled"),
]


def test_the_data_is_what_the_api_describes() -> None:
    data = view_conversation(Conversation(id="c", principal="ada"), TREE)

    assert ConversationAnswer.model_validate(data).exchanges[0].position == "0-0"
    assert "principal" not in data


@pytest.mark.parametrize(
    ("head", "shown", "hidden"),
    [
        ("b", ["# Pears", "ask a", "`find`", "It is here.", "ask b", "busy"], "ask old"),
        ("old", ["ask old", "It was stopped."], "ask b"),
    ],
)
def test_markdown_shows_one_branch(head: str, shown: list[str], hidden: str) -> None:
    conversation = Conversation(id="c", principal="ada", title="Pears", head=head)
    text: Any = render_markdown(conversation, TREE)

    assert [part for part in shown if part not in text] == []
    assert hidden not in text


def test_what_documents_say_is_plain_text_in_an_export() -> None:
    title = "<img src=x onerror=alert(1)> [free](javascript:alert(1))"
    quote = "\u202eevil\u202c **bold** | השכר הוא 90\n# Heading"
    citation = Citation(
        number=1,
        piece="p",
        document="d",
        base="b",
        quote=quote,
        start=0,
        end=1,
        title=title,
        page=3,
    )
    exchange = structs.replace(TREE[0], citations=(citation,))

    conversation = Conversation(id="c", principal="ada", head=exchange.id)
    text: Any = render_markdown(conversation, [exchange])

    (line,) = [it for it in text.splitlines() if it.startswith("* [1]")]
    assert line == (
        r"* [1] \<img src=x onerror=alert(1)\> \[free\](javascript:alert(1)), page 3: "
        r"“evil \*\*bold\*\* \| השכר הוא 90 # Heading”"
    )
