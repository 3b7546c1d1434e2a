"""Asking over HTTP: streams, resumes, approvals, queues, changes."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.engines.dag.made import USED, Team, a_step, task_of
from tests.features.conversations.made import BOARD, ORDER, TOTAL, find_order, refund
from tests.servers.http.live import a_server, patient, until

from pegboard import tool
from pegboard.core.model_messages import ModelRequest, ToolMessage
from pegboard.core.principal import LOCAL
from pegboard.runtime import Pegboard, Settings
from pegboard.testing import ScriptedModel, Turn


@tool(effect="admin", destructive=False)
def note(text: str) -> str:
    """Note a text."""
    return f"noted {text}"


class Asked:
    """A client of a board whose agents are a script."""

    def __init__(self, client: httpx2.AsyncClient, model: ScriptedModel) -> None:
        self.client = client
        self.model = model

    async def ask(self, message: str, *turns: Any, **body: Any) -> list[tuple[str, str, Any]]:
        """Add turns to the script, send a message, and read the whole stream."""
        self.model.add(turns)
        body = {"message": message, **body}
        async with self.client.stream("POST", "/v1/chat", json=body) as answer:
            assert answer.status_code == 200, await answer.aread()
            assert answer.headers["content-type"].startswith("text/event-stream")
            return await read_events(answer)


async def read_events(answer: Any, *, until: str = "done") -> list[tuple[str, str, Any]]:
    """The id, kind and data of each event, up to the first of a kind."""
    events: list[tuple[str, str, Any]] = []
    id_, kind = "", ""
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            id_ = value
        elif name == "event":
            kind = value
        elif name == "data":
            events.append((id_, kind, json.loads(value)))
            id_ = ""
            if kind == until:
                break
    return events


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncGenerator[Asked]:
    (tmp_path / "board.yaml").write_text(BOARD)
    model = ScriptedModel()
    board = Pegboard(tmp_path / "board.yaml", model=model, tools=(find_order, refund, note))
    async with a_server(board) as url, patient(base_url=url) as client:
        yield Asked(client, model)


async def test_an_answer_is_streamed_and_shown_again(asked: Asked) -> None:
    events = await asked.ask("What was the total of order 7?", ORDER, TOTAL)
    data = events[-1][2]
    shown = (await asked.client.get(f"/conversations/{data['conversation']}")).json()

    assert [kind for _, kind, _ in events if kind.startswith("tool")] == [
        "tool_started",
        "tool_finished",
    ]
    assert data["text"] == "It is 12.50 euros."
    assert shown["title"] == "What was the total of order 7?"
    assert shown["exchanges"][0]["answer"] == "It is 12.50 euros."
    assert [item["role"] for item in shown["exchanges"][0]["messages"]] == [
        "assistant",
        "tool",
        "assistant",
    ]


async def test_a_stream_goes_on_after_the_last_event(asked: Asked) -> None:
    events = await asked.ask("hi", ORDER, TOTAL)
    path = f"/conversations/{events[0][2]['conversation']}/events"
    headers = {"Last-Event-ID": events[3][0]}
    async with asked.client.stream("GET", path, headers=headers) as answer:
        resumed = await read_events(answer)

    assert resumed == events[4:]


async def test_an_answer_can_come_whole(asked: Asked) -> None:
    asked.model.add([Turn(text="Hello.")])
    answer = await asked.client.post("/chat", json={"message": "hi", "stream": False})

    assert (answer.json()["state"], answer.json()["answer"]) == ("completed", "Hello.")


async def test_a_client_that_leaves_gives_its_place_back_and_the_answer_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "board.yaml").write_text(BOARD)
    model = ScriptedModel(Turn(calls=(("refund", {"number": 7}),)), Turn(text="Done."))
    settings = Settings(board=tmp_path / "board.yaml", max_requests=1)
    board = Pegboard(settings=settings, model=model, tools=(find_order, refund))
    async with a_server(board) as url, patient(base_url=url) as client:
        body = {"message": "Refund order 7", "stream": False}
        asking = asyncio.create_task(client.post("/chat", json=body))
        approvals: list[str] = []

        async def has_asked() -> bool:
            page = await board.approvals.list(principal=LOCAL)
            approvals[:] = [item.id for item in page.approvals]
            return bool(approvals)

        async def has_left() -> bool:
            return (await client.get("/conversations")).status_code == 200

        await until(has_asked)
        is_full = not await has_left()
        asking.cancel()
        await until(has_left)
        await board.approvals.decide(approvals[0], "approve", principal=LOCAL)
        (known,) = (await client.get("/conversations")).json()["conversations"]
        path = f"/conversations/{known['id']}/events"
        async with client.stream("GET", path, params={"after": "1-0"}) as answer:
            events = await read_events(answer)

    assert is_full
    assert events[-1][2]["text"] == "Done."


async def test_a_key_is_one_message(asked: Asked) -> None:
    asked.model.add([Turn(text="Hello.")])
    headers = {"Idempotency-Key": "k"}
    answers = [
        await asked.client.post("/chat", json={"message": text, "stream": False}, headers=headers)
        for text in ("hi", "hi", "ho")
    ]

    assert answers[0].json() == answers[1].json()
    assert (answers[2].status_code, answers[2].json()["code"]) == (409, "idempotency_conflict")


async def test_a_file_comes_with_a_message_and_a_message_is_answered_again(asked: Asked) -> None:
    asked.model.add([Turn(text="I see."), Turn(text="Better."), Turn(text="Best.")])
    file = {"name": "a.txt", "data": base64.b64encode(b"hello").decode()}
    body = {"message": "Look.", "stream": False, "files": [file]}
    first = (await asked.client.post("/chat", json=body)).json()
    again = {"conversation": first["conversation"], "instead_of": first["id"], "stream": False}
    second = (await asked.client.post("/chat", json=again)).json()
    edited = {**again, "instead_of": second["id"], "message": "Look closer.", "model": "smart"}
    third = (await asked.client.post("/chat", json=edited)).json()
    path = f"/conversations/{first['conversation']}"
    shown = (await asked.client.get(path)).json()
    bad = await asked.client.post("/chat", json={"message": "x", "files": [{**file, "data": "*"}]})

    assert (first["text"], first["files"]) == ("Look.", [{"name": "a.txt", "size": 5}])
    assert (second["text"], second["answer"]) == (first["text"], "Better.")
    assert (third["text"], third["answer"]) == ("Look closer.", "Best.")
    assert [item["answer"] for item in shown["exchanges"]] == ["I see.", "Better.", "Best."]
    assert (shown["head"], shown["model"]) == (third["id"], "smart")
    assert bad.status_code == 422


async def test_an_approval_is_decided_where_it_is_read(asked: Asked) -> None:
    asked.model.add([Turn(calls=(("refund", {"number": 7}),)), Turn(text="Done.")])
    body = {"message": "Refund order 7"}
    async with asked.client.stream("POST", "/chat", json=body) as answer:
        last, _, waiting = (await read_events(answer, until="approval_required"))[-1]
    decided = await asked.client.post(
        f"/approvals/{waiting['approval']}", json={"decision": "approve"}
    )
    path = f"/conversations/{waiting['conversation']}/events"
    async with asked.client.stream("GET", path, params={"after": last}) as answer:
        events = await read_events(answer)

    assert decided.status_code == 200, decided.text
    assert events[-1][2]["text"] == "Done."


async def test_approvals_stand_are_shown_and_revoked(asked: Asked) -> None:
    client, wanted = asked.client, [("note", {"text": text}) for text in "ab"]
    asked.model.add([Turn(calls=tuple(wanted)), Turn(text="Done.")])
    async with client.stream("POST", "/chat", json={"message": "Note a and b"}) as answer:
        last, _, first = (await read_events(answer, until="approval_required"))[-1]
    conversation = first["conversation"]
    path = f"/conversations/{conversation}"
    async with client.stream("GET", f"{path}/events", params={"after": last}) as answer:
        second = (await read_events(answer, until="approval_required"))[-1][2]
    waiting = [first["approval"], second["approval"]]
    shown = (await client.get(f"/approvals/{waiting[0]}")).json()
    decisions = [
        {"approval": waiting[0], "decision": "approve", "scope": "tool"},
        {"approval": waiting[1], "decision": "approve"},
        {"approval": "ap_none", "decision": "deny"},
    ]
    decided = await client.post("/approvals", json={"decisions": decisions})
    (grant,) = (await client.get(path)).json()["grants"]
    listed = (await client.get("/conversations")).json()["conversations"]
    revoked = await client.delete(f"{path}/grants/{grant['id']}")
    again = await client.delete(f"{path}/grants/{grant['id']}")

    assert shown["scopes"] == ["once", "arguments", "tool"]
    results = decided.json()["results"]
    assert [item["id"] for item in results] == [*waiting, "ap_none"]
    assert [(item["approval"] or {}).get("grant", "") for item in results[:2]] == ["", grant["id"]]
    assert results[2]["problem"]["status"] == 404
    assert (grant["tool"], grant["scope"], grant["arguments"]) == ("note", "tool", None)
    assert "grants" not in listed[0]
    assert (revoked.status_code, again.status_code) == (204, 404)
    assert (await client.get(path)).json()["grants"] == []


async def test_conversations_are_listed_changed_exported_and_deleted(asked: Asked) -> None:
    events = await asked.ask("a fruit", Turn(text="A pear."))
    path = f"/conversations/{events[0][2]['conversation']}"
    client = asked.client
    changed = await client.patch(path, json={"title": "Fruit", "model": "fast"})
    refused = await client.patch(path, json={"model": "openai:any"})
    chosen = await client.patch(path, json={"accounts": {"github": "work"}})
    found = (await client.get("/conversations", params={"text": "PEAR"})).json()
    markdown = await client.get(f"{path}/export", params={"format": "markdown"})
    whole = (await client.get(f"{path}/export")).json()
    stopped = (await client.post(f"{path}/stop")).json()
    deleted = await client.delete(path)

    assert (changed.json()["title"], changed.json()["model"]) == ("Fruit", "fast")
    assert (refused.status_code, refused.json()["code"]) == (409, "model_not_configured")
    assert "choose one of smart" in refused.json()["detail"]
    assert whole["model"] == "fast"
    assert [item["title"] for item in found["conversations"]] == ["Fruit"]
    assert "# Fruit" in markdown.text
    assert "A pear." in markdown.text
    assert "attachment" in markdown.headers["content-disposition"]
    assert whole["exchanges"][0]["text"] == "a fruit"
    assert stopped == {"stopped": False}
    assert deleted.status_code == 204
    assert (await client.get(path)).json()["code"] == "conversation_not_found"
    assert chosen.json()["accounts"] == {"github": "work"}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/chat", {}, 422, "request_invalid"),
        ("POST", "/chat", {"message": " "}, 422, "request_invalid"),
        ("POST", "/chat", {"message": "x", "conversation": "none"}, 404, "conversation_not_found"),
        ("POST", "/chat", {"message": "x", "when": "never"}, 422, "request_invalid"),
        ("POST", "/chat", {"message": "x", "model": "openai:any"}, 409, "model_not_configured"),
        ("PATCH", "/conversations/none", {"title": "x"}, 404, "conversation_not_found"),
        ("PATCH", "/conversations/none", {"head": "x"}, 422, "request_invalid"),
        ("DELETE", "/conversations/none", None, 404, "conversation_not_found"),
        ("GET", "/conversations/none/events", None, 404, "conversation_not_found"),
        ("POST", "/conversations/none/stop", None, 404, "conversation_not_found"),
        ("DELETE", "/conversations/none/queue/x", None, 404, "conversation_not_found"),
        ("GET", "/conversations?cursor=x", None, 404, "not_found"),
    ],
)
async def test_what_cannot_be_served_says_why(
    asked: Asked, method: str, path: str, body: Any, status: int, code: str
) -> None:
    answer = await asked.client.request(method, path, json=body)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_an_event_that_never_was_is_refused(asked: Asked) -> None:
    events = await asked.ask("hi", Turn(text="Hello."))
    path = f"/conversations/{events[0][2]['conversation']}/events"
    answer = await asked.client.get(path, headers={"Last-Event-ID": "x"})

    assert answer.status_code == 422


async def test_a_goal_is_planned_and_its_steps_are_told_apart(asked: Asked) -> None:
    team = Team([[a_step("a"), a_step("b")]], work=_find)
    asked.model.supports_schema = True
    turns = [team.answer] * 8
    events = await asked.ask("Compare the orders a and b.", *turns, engine="dag")
    kinds = [kind for _, kind, _ in events]

    assert [kind for kind in kinds if kind in {"phase", "plan", "judgement"}] == [
        "phase", "plan", "phase", "judgement",
    ]  # fmt: skip
    calls = [data for _, kind, data in events if kind == "tool_finished"]
    assert sorted(data["step_id"] for data in calls) == ["a", "b"]
    states = [data["state"] for _, kind, data in events if kind == "step" and "step_id" in data]
    assert states.count("completed") == 2
    text = "".join(data["text"] for _, kind, data in events if kind == "text_delta")
    assert text == events[-1][2]["text"] == "All done."
    assert events[-1][2]["usage"]["requests"] == 7
    path = f"/conversations/{events[-1][2]['conversation']}"
    shown = (await asked.client.get(path)).json()
    assert shown["engine"] == "dag"
    changed = await asked.client.patch(path, json={"engine": "react"})
    assert changed.json()["engine"] == "react"


def _find(text: str, request: ModelRequest) -> Turn:
    if isinstance(request.messages[-1], ToolMessage):
        return Turn(text="12.50", usage=USED)
    return Turn(calls=(("find_order", {"number": len(task_of(text))}),), usage=USED)
