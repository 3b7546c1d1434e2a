"""`pegboard conversations`: find conversations, and get their files, here and from a server."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest
from tests.cli.conftest import Command
from tests.features.conversations.made import a_board
from tests.models.made import Provider, text
from tests.servers.http.made import client_of

from pegboard.cli.client.conversations import LocalConversations, RemoteConversations
from pegboard.cli.client.port import ConversationsClient
from pegboard.cli.client.remote import RemoteBoard
from pegboard.core.principal import LOCAL
from pegboard.errors import ConversationNotFound, Unavailable
from pegboard.features.conversations import NewMessage
from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn

DATA = {"PEGBOARD_DATA": "data"}
CLIENTS: tuple[type[ConversationsClient], ...] = (LocalConversations, RemoteConversations)


@pytest.fixture
def conversation(provider: Provider, pegboard: Command, folder: Path) -> str:
    """The id of a conversation with a file."""
    (folder / "report.csv").write_text("a,b")
    provider.answers.append(text("Two columns."))
    done = pegboard("chat", "What is this?", "--file", "report.csv", "--json", **DATA)
    return json.loads(done.stdout)["conversation"]


def test_conversations_are_found_by_what_was_said(conversation: str, pegboard: Command) -> None:
    found = pegboard("conversations", "list", "--search", "columns", **DATA)
    other = pegboard("conversations", "list", "--search", "rows", **DATA)

    assert conversation in found.stdout
    assert "What is this?" in found.stdout
    assert conversation not in other.stdout


def test_a_file_is_listed_and_written_once(
    conversation: str, pegboard: Command, folder: Path
) -> None:
    listed = pegboard("conversations", "files", "list", conversation, **DATA)
    get = ("conversations", "files", "get", conversation, "report.csv")
    first = pegboard(*get, "-o", "copy.csv", **DATA)
    again = pegboard(*get, **DATA)
    shown = pegboard(*get, "-o", "-", **DATA)

    assert "report.csv" in listed.stdout
    assert first.stdout == "copy.csv\n"
    assert (folder / "copy.csv").read_text() == "a,b"
    assert again.returncode == 2
    assert "report.csv exists already" in again.stderr
    assert shown.stdout == "a,b"


def test_a_file_that_is_not_there_makes_none_here(
    conversation: str, pegboard: Command, folder: Path
) -> None:
    done = pegboard("conversations", "files", "get", conversation, "none.csv", **DATA)

    assert done.returncode != 0
    assert "no file 'none.csv'" in done.stderr
    assert not (folder / "none.csv").exists()


@pytest.fixture
async def http(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    board = Pegboard(model=ScriptedModel(Turn(text="Kept.")), data=tmp_path / "data")
    async with client_of(board) as client:
        client.base_url = f"{client.base_url}/v1"
        yield client


async def test_a_server_has_the_same(http: httpx2.AsyncClient) -> None:
    remote = RemoteBoard(http, "http://board").conversations
    file = {"name": "résumé 1.bin", "data": base64.b64encode(b"0" * 300_000).decode()}
    body = {"message": "Keep this.", "stream": False, "files": [file]}
    id_ = (await http.post("/chat", json=body)).json()["conversation"]

    page = await remote.list(text="keep", limit=5, cursor="")
    listed = await remote.list_files(id_)
    content = b"".join([chunk async for chunk in remote.read_file(id_, file["name"])])

    assert [item["id"] for item in page["conversations"]] == [id_]
    assert [item["path"] for item in listed["files"]] == [file["name"]]
    assert content == b"0" * 300_000
    with pytest.raises(ConversationNotFound):
        await anext(remote.read_file(id_, "none.bin"))


async def test_a_server_that_is_away_says_so() -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused", request=request)

    transport = httpx2.MockTransport(refuse)
    async with httpx2.AsyncClient(transport=transport, base_url="http://board/v1") as client:
        remote = RemoteBoard(client, "http://board").conversations
        with pytest.raises(Unavailable, match="cannot be reached"):
            await anext(remote.read_file("c_1", "a.txt"))


async def test_the_last_answer_here_is_followed_past_messages_without_one(tmp_path: Path) -> None:
    gate, begun = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        """Wait."""
        begun.set()
        await gate.wait()
        return "waited"

    turns = (Turn(calls=(("wait", {}),)), Turn(text="In French."))
    async with a_board(tmp_path, *turns, tools=(wait,)) as (board, _):
        service = board.conversations
        first = await service.send(NewMessage(text="hi"), principal=LOCAL)
        await begun.wait()
        steer = NewMessage(text="in French", conversation=first.conversation, when="steer")
        await service.send(steer, principal=LOCAL)
        queued = NewMessage(text="wait", conversation=first.conversation)
        last = await service.send(queued, principal=LOCAL)
        await service.withdraw(first.conversation, last.id, principal=LOCAL)
        gate.set()
        async for _ in service.follow(first.conversation, until=first.id, principal=LOCAL):
            pass
        followed = LocalConversations(service, LOCAL).follow_last(first.conversation, if_open=False)
        events = [event async for event in followed]

    assert (events[-1].event, events[-1].data["text"]) == ("done", "In French.")
