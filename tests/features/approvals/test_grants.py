"""Approvals that stand for the rest of a conversation: what they cover, and how they end."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import a_board, refund
from tests.features.conversations.made import ask as ask_plainly

from pegboard import ToolRegistry, tool
from pegboard.core.event import BoardChanged, Event
from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.ports.audit_store import skip_proof
from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import ConversationNotFound, InvalidRequest
from pegboard.features.approvals import Approvals
from pegboard.features.approvals.grants import Grants, Scope
from pegboard.features.conversations import ChatEvent, NewMessage
from pegboard.runtime import Pegboard
from pegboard.schemas.tool_definition import definition_digest
from pegboard.testing import Turn
from pegboard.tools import as_tool

SENT: list[str] = []


@tool(effect="admin", destructive=False)
def post(text: str) -> str:
    """Post a note."""
    SENT.append(text)
    return f"posted {text}"


@tool(effect="admin")
def erase(text: str) -> str:
    """Erase a note."""
    SENT.append(f"no {text}")
    return "erased"


TOOLS = (post, erase, refund)
Decide = Callable[[Mapping[str, Any]], Awaitable[object]]


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()


def calls(*texts: str, name: str = "post") -> Turn:
    return Turn(calls=tuple((name, {"text": text}) for text in texts))


END = Turn(text="Done.")


class Talk:
    """A conversation in which every request for an approval is counted and decided."""

    def __init__(self, board: Pegboard) -> None:
        self.board = board
        self.id = ""
        self.asked: list[Any] = []

    async def say(self, scope: Scope = "once", decision: Any = "approve") -> list[ChatEvent]:
        """Send a message; whatever waits for an approval gets this decision."""
        service = self.board.conversations
        sent = await service.send(NewMessage(text="go on", conversation=self.id), principal=LOCAL)
        self.id = sent.conversation
        events: list[ChatEvent] = []
        async for event in service.follow(sent.conversation, until=sent.id, principal=LOCAL):
            events.append(event)
            if event.event == "approval_required":
                self.asked.append(event.data["arguments"]["text"])
                await self.board.approvals.decide(
                    str(event.data["approval"]), decision, scope=scope, principal=LOCAL
                )
        return events

    async def grants(self) -> list[Any]:
        conversation, _ = await self.board.conversations.get(self.id, principal=LOCAL)
        return list(conversation.grants)


async def test_once_is_the_default_and_a_repeated_call_asks_again(tmp_path: Path) -> None:
    turns = (calls("a"), calls("a"), calls("a", "a"), END)
    async with a_board(tmp_path, *turns, tools=TOOLS) as (board, _):
        talk = Talk(board)
        await talk.say()

        assert talk.asked == SENT == ["a"] * 4
        assert await talk.grants() == []


async def test_a_tool_may_be_approved_for_the_rest_of_the_conversation(tmp_path: Path) -> None:
    turns = (calls("a"), calls("b", "c"), END, calls("d"), END)
    async with a_board(tmp_path, *turns, tools=TOOLS) as (board, _):
        talk = Talk(board)
        await talk.say("tool")
        await talk.say("tool")
        (grant,) = await talk.grants()
        page = await board.approvals.list(ApprovalQuery(tool="post"), principal=LOCAL)

    assert talk.asked == ["a"]
    assert sorted(SENT) == ["a", "b", "c", "d"]
    assert (grant.tool, grant.arguments_digest, grant.granted_by) == ("post", "", LOCAL.id)
    assert [item.state for item in page.approvals] == ["used"] * 4  # each call has its own
    assert [item.grant for item in page.approvals] == [grant.id] * 3 + [""]


async def test_arguments_may_be_approved_for_the_rest_of_the_conversation(tmp_path: Path) -> None:
    turns = (calls("a"), calls("a"), calls("b"), END)
    async with a_board(tmp_path, *turns, tools=TOOLS) as (board, _):
        talk = Talk(board)
        await talk.say("arguments")
        narrow, other = await talk.grants()

    assert talk.asked == ["a", "b"]
    assert SENT == ["a", "a", "b"]
    assert (narrow.shown, other.shown) == ({"text": "a"}, {"text": "b"})


async def test_requests_that_wait_beside_it_are_approved_too(tmp_path: Path) -> None:
    async with a_board(tmp_path, calls("a", "b", "c"), END, tools=TOOLS) as (board, _):
        sent = await board.conversations.send(NewMessage(text="go on"), principal=LOCAL)
        waiting: list[str] = []
        async for event in board.conversations.follow(
            sent.conversation, until=sent.id, principal=LOCAL
        ):
            if event.event == "approval_required":
                waiting.append(str(event.data["approval"]))
                if len(waiting) == 3:
                    await board.approvals.decide(
                        waiting[1], "approve", scope="tool", principal=LOCAL
                    )

    assert sorted(SENT) == ["a", "b", "c"]


async def test_a_destructive_tool_is_approved_once_only(tmp_path: Path) -> None:
    turns = (calls("a", name="erase"), END)
    async with a_board(tmp_path, *turns, tools=TOOLS) as (board, _):
        talk = Talk(board)
        with pytest.raises(InvalidRequest, match="'erase' may destroy"):
            await talk.say("tool")
        (pending,) = (await board.approvals.list(principal=LOCAL)).approvals
        conversation, _ = await board.conversations.get(talk.id, principal=LOCAL)

        assert board.approvals.grants.list_scopes(pending, conversation, principal=LOCAL) == [
            "once"
        ]
        assert pending.state == "pending"
        assert SENT == []


@pytest.mark.parametrize("scope", ["arguments", "tool"])
async def test_only_an_approval_can_stand(tmp_path: Path, scope: Scope) -> None:
    async with a_board(tmp_path, calls("a"), END, tools=TOOLS) as (board, _):
        with pytest.raises(InvalidRequest, match=f"'{scope}' goes with 'approve'"):
            await Talk(board).say(scope, decision="deny")


async def test_a_revoked_one_asks_again(tmp_path: Path) -> None:
    changes: list[BoardChanged] = []

    class Heard:
        def on_event(self, event: Event) -> None:
            if isinstance(event, BoardChanged) and event.kind == "grant":
                changes.append(event)

    turns = (calls("a"), END, calls("b"), END)
    async with a_board(tmp_path, *turns, tools=TOOLS) as (board, _):
        board.registry.environment.emitter.add(Heard())
        talk = Talk(board)
        await talk.say("tool")
        (grant,) = await talk.grants()
        await board.approvals.grants.revoke(talk.id, grant.id, principal=LOCAL)
        await talk.say()
        with pytest.raises(ConversationNotFound):
            await board.approvals.grants.revoke(talk.id, grant.id, principal=LOCAL)

        assert await talk.grants() == []
    assert talk.asked == ["a", "b"]
    assert [(item.action, item.subject, item.detail["grant"]) for item in changes] == [
        ("given", "post", grant.id),
        ("revoked", "post", grant.id),
    ]


async def test_another_conversation_and_another_door_ask_again(tmp_path: Path) -> None:
    turns = (calls("a"), END, calls("b"), END)
    async with a_board(tmp_path, *turns, tools=TOOLS) as (board, _):
        await Talk(board).say("tool")
        second = Talk(board)
        await second.say()
        direct = await board.registry.call("post", {"text": "c"})

    assert second.asked == ["b"]
    assert direct.error is not None
    assert direct.error.code == "approval_required"


async def test_what_is_denied_or_turned_off_is_refused_all_the_same(tmp_path: Path) -> None:
    turns = (calls("a"), END, calls("b"), Turn(text="Sorry.", expects=("turned off",)))
    async with a_board(tmp_path, *turns, tools=TOOLS) as (board, model):
        talk = Talk(board)
        await talk.say("tool")
        await board.switches.off("tool", "post", principal=LOCAL)
        await talk.say()
        model.assert_exhausted()

    assert SENT == ["a"]


async def test_it_survives_a_restart_and_ends_with_the_conversation(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with a_board(tmp_path, calls("a"), END, data=data, tools=TOOLS) as (board, _):
        first = Talk(board)
        await first.say("tool")
    async with a_board(tmp_path, calls("b"), END, data=data, tools=TOOLS) as (board, _):
        second = Talk(board)
        second.id = first.id
        await second.say()
        await board.conversations.delete(first.id, principal=LOCAL)
        with pytest.raises(ConversationNotFound):
            await board.conversations.get(first.id, principal=LOCAL)

    assert (first.asked, second.asked) == (["a"], [])
    assert SENT == ["a", "b"]


def another_post(**options: Any) -> Any:
    """The tool `post` as another process defines it."""

    @tool(name="post", effect="admin", destructive=False, **options)
    def define(text: str) -> str:
        """Post a note."""
        SENT.append(text)
        return f"posted {text}"

    return define


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, []),
        ({"description": "Post a note to everybody."}, ["b"]),
        ({"scopes": ["post"]}, ["b"]),
    ],
    ids=["the same", "another description", "another scope"],
)
async def test_a_tool_with_another_definition_asks_again_under_the_same_version(
    tmp_path: Path, options: dict[str, Any], asked: list[str]
) -> None:
    data = tmp_path / "data"
    async with a_board(tmp_path, calls("a"), END, data=data, tools=TOOLS) as (board, _):
        first = Talk(board)
        await first.say("tool")
    changed = another_post(**options)
    async with a_board(tmp_path, calls("b"), END, data=data, tools=(changed,)) as (board, _):
        second = Talk(board)
        second.id = first.id
        await second.say()

    assert as_tool(changed).spec.version == as_tool(post).spec.version
    assert (second.asked, SENT) == (asked, ["a", "b"])


async def test_a_changed_rule_asks_again(tmp_path: Path) -> None:
    turns = (calls("a"), END, calls("b"), END)
    async with a_board(tmp_path, *turns, tools=TOOLS) as (board, _):
        talk = Talk(board)
        await talk.say("tool")
        (tmp_path / "board.yaml").write_text("policy: {ask: ['pos?']}\n")
        await board.reload()
        await talk.say()

    assert talk.asked == ["a", "b"]


EVE = Principal(id="eve", scopes=frozenset({"approvals:decide"}))
ADA = Principal(id="ada")
PENDING = Approval(
    id="ap_1",
    digest="d",
    tool="post",
    principal="eve",
    created_at=0,
    version="1.0.0",
    run_id="r",
    arguments_digest="x",
    definition_digest=definition_digest(as_tool(post).spec),
)
MINE = Conversation(id="c", principal="eve")


@pytest.mark.parametrize(
    ("approval", "conversation", "principal", "scopes"),
    [
        ({}, MINE, EVE, ["once", "arguments", "tool"]),
        ({}, None, EVE, ["once"]),
        ({}, Conversation(id="c", principal="ada"), EVE, ["once"]),
        ({"principal": "ada"}, MINE, EVE, ["once"]),
        ({"definition_digest": "other"}, MINE, EVE, ["once"]),
        ({"tool": "gone"}, MINE, EVE, ["once"]),
        ({"arguments_digest": ""}, MINE, EVE, ["once"]),
        ({"definition_digest": ""}, MINE, EVE, ["once"]),
        ({"principal": "ada"}, MINE, ADA, []),
        ({"state": "used"}, MINE, EVE, []),
    ],
    ids=[
        "own call", "no conversation", "conversation of another", "call of another",
        "another definition", "no such tool", "older request", "request without a definition",
        "may not decide", "decided",
    ],
)  # fmt: skip
def test_more_than_once_is_offered_to_the_caller_alone(
    approval: dict[str, Any], conversation: Conversation | None, principal: Principal, scopes: Any
) -> None:
    grants = Grants(ToolRegistry([post]), None, prove=skip_proof)
    asked = Approval(**{**_fields(PENDING), **approval})

    assert grants.list_scopes(asked, conversation, principal=principal) == scopes


def _fields(approval: Approval) -> dict[str, Any]:
    return {name: getattr(approval, name) for name in approval.__struct_fields__}


async def test_a_registry_without_conversations_has_none() -> None:
    registry = ToolRegistry([post])
    result = await registry.call("post", {"text": "a"})
    approvals = Approvals(registry)
    (pending,) = (await approvals.list(principal=LOCAL)).approvals
    with pytest.raises(InvalidRequest, match="not part of a conversation"):
        await approvals.decide(pending.id, "approve", scope="tool", principal=LOCAL)
    with pytest.raises(ConversationNotFound):
        await approvals.grants.revoke("c", "gr", principal=LOCAL)

    assert result.is_error


async def test_a_plain_answer_needs_none(tmp_path: Path) -> None:
    async with a_board(tmp_path, END, tools=TOOLS) as (board, _):
        _, id_ = await ask_plainly(board, "hi")

        assert (await board.conversations.get(id_, principal=LOCAL))[0].grants == ()
