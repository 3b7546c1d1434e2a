"""Answers in chat cite documents, and every number was checked."""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.http.live import a_server, patient
from tests.servers.http.routes.test_chat import read_events

from pegboard.core.model_messages import ModelRequest, ToolMessage
from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn

BOARD = """
sources: []
agents:
  - name: clerk
    kb_ids: [handbook]
    retrieval_mode: grounding
  - name: stranger
"""
TEXT = "# Returns\n\nRecords can be returned within 30 days of purchase with the receipt.\n"


class Chat:
    """A board with a handbook, and a model that is a script."""

    def __init__(self, client: httpx2.AsyncClient, model: ScriptedModel) -> None:
        self.client = client
        self.model = model
        self.base = ""

    async def fill(self) -> str:
        """Make the base with one document; the id of the document."""
        self.base = (await self.client.post("/v1/knowledge", json={"name": "handbook"})).json()[
            "id"
        ]
        file = {"name": "returns.md", "data": b64encode(TEXT.encode()).decode()}
        place = f"/v1/knowledge/{self.base}/documents"
        added = (await self.client.post(place, json={"file": file})).json()["documents"][0]
        while True:
            (document,) = (await self.client.get(place)).json()["documents"]
            if document["state"] == "ready":
                return added["document"]["id"]
            await asyncio.sleep(0.02)

    async def ask(self, message: str, *turns: Any, **body: Any) -> dict[str, Any]:
        """Send a message; the last event of its answer."""
        self.model.add(turns)
        body = {"message": message, **body}
        async with self.client.stream("POST", "/v1/chat", json=body) as answer:
            events = await read_events(answer)
        self.kinds = [kind for _, kind, _ in events]
        return events[-1][2]


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncGenerator[Chat]:
    (tmp_path / "board.yaml").write_text(BOARD)
    model = ScriptedModel()
    board = Pegboard(tmp_path / "board.yaml", model=model)
    async with a_server(board) as url, patient(base_url=url) as client:
        yield Chat(client, model)


def looks_up(tool: str = "kb_retrieve") -> Turn:
    """A turn that asks the handbook."""
    return Turn(calls=((tool, {"question": "When can a record be returned?"}),))


ANSWER = Turn(
    text="It can be returned within 30 days [1]. The shipping of parcels is free [1]. See also [7]."
)


async def test_an_answer_keeps_the_numbers_that_a_quote_carries(chat: Chat) -> None:
    document = await chat.fill()

    done = await chat.ask("When can I return a record?", looks_up(), ANSWER)

    assert (
        done["text"]
        == "It can be returned within 30 days [1]. The shipping of parcels is free. See also."
    )
    assert done["left_out"] == 2
    (citation,) = done["citations"]
    assert (citation["number"], citation["document"]) == (1, document)
    assert "within 30 days" in citation["quote"]
    assert "citation" in chat.kinds
    stored = (await chat.client.get(f"/v1/conversations/{done['conversation']}")).json()
    (exchange,) = stored["exchanges"]
    assert exchange["citations"] == done["citations"]
    place = f"/v1/conversations/{done['conversation']}/export"
    exported = (await chat.client.get(place, params={"format": "markdown"})).text
    assert "* [1] Returns: “" in exported


async def test_a_second_message_numbers_on_and_reads_what_it_has_not_seen(chat: Chat) -> None:
    await chat.fill()
    done = await chat.ask("When?", looks_up(), Turn(text="Within 30 days [1]."))

    again = Turn(text="Within 30 days of purchase [2].", expects=('number="2"',))
    done = await chat.ask("And?", looks_up(), again, conversation=done["conversation"])

    assert [item["number"] for item in done["citations"]] == [2]


async def test_a_deleted_document_leaves_the_answer_without_its_quotes(
    chat: Chat, tmp_path: Path
) -> None:
    document = await chat.fill()
    done = await chat.ask("When?", looks_up(), Turn(text="Within 30 days [1]."))
    place = f"/v1/knowledge/{chat.base}/documents/{document}"
    goes = (await chat.client.get(f"{place}/deletion")).json()
    assert (goes["results"], goes["answers"]) == (1, 1)

    await chat.client.delete(place)

    stored = (await chat.client.get(f"/v1/conversations/{done['conversation']}")).text
    assert "of purchase with the receipt" not in stored
    (exchange,) = json.loads(stored)["exchanges"]
    assert exchange["answer"] == "Within 30 days [1]."
    assert [(it["number"], it["is_deleted"]) for it in exchange["citations"]] == [(1, True)]


def list_tools(request: ModelRequest) -> list[str]:
    """The names of the tools that a model is shown."""
    return [tool.name for tool in request.tools]


async def test_an_agent_asks_its_bases_by_its_mode_and_another_none(chat: Chat) -> None:
    await chat.fill()

    def look(request: ModelRequest) -> Turn:
        assert "grounded_retrieve" in list_tools(request)
        assert "kb_retrieve" not in list_tools(request)
        return looks_up("grounded_retrieve")

    done = await chat.ask("When?", look, Turn(text="Within 30 days [1]."), agent="clerk")
    assert len(done["citations"]) == 1

    def try_anyway(request: ModelRequest) -> Turn:
        assert not {"kb_retrieve", "grounded_retrieve"} & {*list_tools(request)}
        return looks_up()

    def read(request: ModelRequest) -> Turn:
        (told,) = [item for item in request.messages if isinstance(item, ToolMessage)]
        assert told.is_error
        return Turn(text="I do not know.")

    done = await chat.ask("When?", try_anyway, read, agent="stranger")
    assert done["citations"] == []


async def test_openai_answers_have_annotations(chat: Chat) -> None:
    document = await chat.fill()
    body = {"model": "auto", "messages": [{"role": "user", "content": "When?"}]}
    chat.model.add([looks_up(), Turn(text="Within 30 days [1].")])

    answer = (await chat.client.post("/v1/chat/completions", json=body)).json()

    message = answer["choices"][0]["message"]
    assert message["content"] == "Within 30 days [1]."
    (annotation,) = message["annotations"]
    assert annotation["url_citation"]["url"].endswith(document)
    chat.model.add([looks_up(), Turn(text="Within 30 days [1].")])

    given = {"model": "auto", "input": "When?"}
    output = (await chat.client.post("/v1/responses", json=given)).json()["output"]

    (annotation,) = output[-1]["content"][0]["annotations"]
    assert (annotation["file_id"], annotation["index"]) == (document, 15)


async def test_a_document_knows_the_messages_that_cite_it(chat: Chat) -> None:
    document = await chat.fill()
    place = f"/v1/knowledge/{chat.base}/documents/{document}/answers"
    await chat.ask("What do you know?", looks_up(), Turn(text="Nothing of note."))
    assert (await chat.client.get(place)).json() == {"answers": [], "next_cursor": None}

    done = await chat.ask("When can it be returned?", looks_up(), Turn(text="Within 30 days [1]."))

    (answer,) = (await chat.client.get(place)).json()["answers"]
    assert (answer["kind"], answer["id"]) == ("conversation", done["conversation"])
    assert (answer["question"], answer["numbers"]) == ("When can it be returned?", [1])
    await chat.client.delete(f"/v1/conversations/{done['conversation']}")
    assert (await chat.client.get(place)).json() == {"answers": [], "next_cursor": None}
