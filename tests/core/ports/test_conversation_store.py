"""Whose a conversation is, and what its standing approvals cover."""

from typing import Any

import pytest

from pegboard.core.ports.conversation_store import (
    Conversation,
    ConversationGrant,
    Exchange,
    find_conversation_of_run,
)
from pegboard.core.principal import Principal
from pegboard.storage import MemoryStorage

CALL = {
    "tool": "post",
    "definition_digest": "x",
    "reason": "asked",
    "arguments_digest": "d",
    "account": "",
}


@pytest.mark.parametrize(
    ("digest", "call", "covers"),
    [
        ("", {}, True),
        ("d", {}, True),
        ("other", {}, False),
        ("", {"tool": "erase"}, False),
        ("", {"definition_digest": "y"}, False),
        ("", {"reason": "another rule"}, False),
        ("", {"account": "c1 2.0"}, False),
    ],
    ids=["any arguments", "these", "others", "tool", "definition", "reason", "account"],
)
def test_a_grant_covers_calls_like_the_approved_one(
    digest: str, call: dict[str, Any], covers: bool
) -> None:
    grant = ConversationGrant(
        id="gr",
        version="1.0.0",
        approval="ap",
        granted_by="ada",
        granted_at=0,
        **{**CALL, "arguments_digest": digest},
    )

    assert grant.covers(**{**CALL, **call}) is covers


def test_a_grant_of_an_older_version_covers_nothing() -> None:
    known = {**CALL, "definition_digest": ""}
    grant = ConversationGrant(
        id="gr", version="1", approval="ap", granted_by="ada", granted_at=0, **known
    )

    assert not grant.covers(**CALL)
    assert not grant.covers(**known)


def test_a_conversation_belongs_to_one_caller_of_one_tenant() -> None:
    conversation = Conversation(id="c", principal="ada", tenant="acme")

    assert conversation.belongs_to(Principal(id="ada", tenant="acme"))
    assert not conversation.belongs_to(Principal(id="ada"))
    assert not conversation.belongs_to(Principal(id="eve", tenant="acme"))


async def test_the_conversation_of_a_run_is_found() -> None:
    store = MemoryStorage().conversations
    conversation = Conversation(id="c", principal="ada", head="m")
    await store.create(conversation)
    await store.append(Exchange(id="m", conversation="c", text="hi", run_id="r", created_at=0))

    assert await find_conversation_of_run(store, "r") == conversation
    assert await find_conversation_of_run(store, "none") is None
