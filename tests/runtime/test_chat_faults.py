"""What can go wrong in a chat, and what the model, the caller and the operator see of it."""

import asyncio
import json
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import ask, text_of
from tests.models.made import Chunk, Provider, a_provider, call, text
from tests.servers.http.live import a_server, patient
from tests.storage.made import ROOT

from pegboard import tool
from pegboard.core.model_messages import ModelRequest
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.principal import LOCAL
from pegboard.features.conversations import ChatEvent
from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn

pytestmark = pytest.mark.timeout(60)  # the first request imports the provider's client

SECRET = "hunter2-very-secret"
KEY = "sk-very-secret-key"
NOW = {"running": 0, "most": 0}


@tool(effect="read")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="write")
def leak() -> str:
    """Fail with a secret."""
    raise RuntimeError(f"login failed for password={SECRET}")


@tool(effect="read", timeout=0.1)
async def hang() -> str:
    """Never end."""
    await asyncio.sleep(60)
    return "never"


@tool(effect="read")
def flood() -> str:
    """Give 10 MB."""
    return "0123456789" * 1_000_000


@tool(effect="read")
async def work(n: int) -> int:
    """Work for a moment."""
    NOW["running"] += 1
    NOW["most"] = max(NOW["most"], NOW["running"])
    await asyncio.sleep(0.01)
    NOW["running"] -= 1
    return n


class Chat:
    """A board whose model is a real provider, and what everybody sees of it."""

    def __init__(self, board: Pegboard, provider: Provider) -> None:
        self.board = board
        self.provider = provider

    async def ask(self, *answers: Any) -> list[ChatEvent]:
        """Ask once; these are the provider's answers."""
        self.provider.answers += answers
        events, _ = await ask(self.board, "Please")
        return events

    @property
    def told(self) -> str:
        """What the model is told last."""
        return str(self.provider.requests[-1]["messages"][-1]["content"])

    async def records(self) -> list[dict[str, Any]]:
        """The history of calls, newest first."""
        return list((await self.board.history.calls(HistoryQuery())).calls)

    async def run_error(self) -> Any:
        """The code and the text of the error of the last run, as its record has them."""
        return await run_error(self.board)


@pytest.fixture
async def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Chat]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("PEGBOARD_MODEL", "tiny-1")
    tools = (add, leak, hang, flood, work)
    async with a_provider() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        async with Pegboard(tools=tools, data=tmp_path) as board:
            yield Chat(board, provider)


async def run_error(board: Pegboard) -> Any:
    """The code and the text of the error of the last run, as its record has them."""
    error = (await board.runs.list(principal=LOCAL)).runs[0].result.error or {}
    return error.get("code"), error.get("message")


def only(events: list[ChatEvent], kind: str) -> Any:
    (found,) = [event.data for event in events if event.event == kind]
    return found


def several(*calls: tuple[str, str]) -> list[Chunk]:
    """The chunks of several calls of one turn."""
    asked = [
        {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for index, (name, arguments) in enumerate(calls)
    ]
    return [{"delta": {"tool_calls": asked}}, {"delta": {}, "finish_reason": "tool_calls"}]


@pytest.mark.parametrize(
    ("wanted", "told", "code", "status", "tool"),
    [
        (
            call("add", '{"a": "so many"}'),
            ['- a: expected an integer, found "so many"', "- b: missing, required"],
            "arguments_invalid",
            "invalid",
            "add",
        ),
        (call("ad", "{}"), ["Did you mean 'add'?"], "tool_not_found", "invalid", "ad"),
        (call("leak", "{}"), ["'leak' failed. (error id e_"], "tool_failed", "failed", "leak"),
        (call("hang", "{}"), ["did not end within 0.1 s"], "timeout", "unavailable", "hang"),
        (
            call("add", '{"a": "so many",'),
            ["not valid JSON"],
            "arguments_invalid",
            "invalid",
            "add",
        ),
    ],
    ids=["bad arguments", "unknown tool", "a secret is raised", "it hangs", "malformed JSON"],
)
async def test_a_failed_call_is_told_recorded_and_answered(
    chat: Chat, wanted: Any, told: list[str], code: str, status: str, tool: str
) -> None:
    events = await chat.ask(wanted, text("Sorry."))
    finished = only(events, "tool_finished")
    (record,) = await chat.records()

    assert [line for line in told if line not in chat.told] == []
    assert (finished["error_code"], finished["state"]) == (code, "failed")
    assert text_of(events) == "Sorry."
    assert (record["tool"], record["status"], record["error_code"]) == (tool, status, code)
    assert "so many" not in json.dumps(record)  # records quote no arguments


async def test_what_a_tool_raises_is_for_the_operator_alone(
    chat: Chat, caplog: pytest.LogCaptureFixture
) -> None:
    events = await chat.ask(call("leak", "{}"), text("Sorry."))
    (record,) = await chat.records()
    detail = await chat.board.history.detail(record["error_id"])

    assert record["error_id"] in chat.told
    assert only(events, "tool_finished")["error_id"] == record["error_id"]
    assert SECRET not in json.dumps([chat.provider.requests, [event.data for event in events]])
    assert detail is not None
    assert "RuntimeError: login failed" in detail["detail"]
    assert ", in leak" in detail["detail"]
    assert SECRET not in detail["detail"]  # what looks like a password is masked there too
    assert record["error_id"] in caplog.text
    assert SECRET not in caplog.text


async def test_a_result_of_10_mb_is_a_page_and_a_handle(chat: Chat) -> None:
    events = await chat.ask(call("flood", "{}"), text("It is long."))
    finished = only(events, "tool_finished")
    (record,) = await chat.records()

    assert chat.told.startswith("0123456789" * 3_000)
    assert len(chat.told) < 110_000
    assert finished["handle"] in chat.told
    assert (finished["total_bytes"], finished["is_cut"]) == (10_000_000, True)
    assert finished["text"] == "0123456789" * 200
    assert (record["truncated"], record["bytes_out"]) == (True, 10_000_000)


@pytest.mark.slow
async def test_forty_calls_at_once_run_some_at_a_time(chat: Chat) -> None:
    wanted = several(*[("work", json.dumps({"n": n})) for n in range(40)])
    events = await chat.ask(wanted, text("Done."))
    told = [
        message for message in chat.provider.requests[-1]["messages"] if "tool_call_id" in message
    ]

    assert NOW["most"] == 16
    assert [message["content"] for message in told] == [str(n) for n in range(40)]
    assert [event.event for event in events].count("tool_finished") == 40
    assert len(await chat.records()) == 40


async def test_a_model_that_repeats_itself_has_to_answer(chat: Chat) -> None:
    again = call("add", '{"a": 1, "b": 2}')
    events = await chat.ask(*[again] * 9)
    requests = chat.provider.requests
    told = [str(request["messages"][-1]["content"]) for request in requests]
    error = only(events, "error")

    assert "times" not in told[1]
    assert "has been made 2 times" in told[2]
    assert "has been made 3 times" in told[3]
    assert [request["tool_choice"] for request in requests] == ["auto", "auto", "auto", "none"]
    assert error["code"] == "limit_reached"
    assert "repeats the same calls" in error["detail"]
    assert len(await chat.records()) == 3


@pytest.mark.parametrize("name", ["openai:gpt-5.2", "anthropic:claude-opus-4-8"])
async def test_a_model_without_a_key_names_the_variable_and_sends_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    variable = f"{name.partition(':')[0].upper()}_API_KEY"
    for unset in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(unset, raising=False)
    monkeypatch.setenv("PEGBOARD_MODEL", name)
    async with Pegboard() as board:
        events, _ = await ask(board, "hi")
        recorded = await run_error(board)

    error = only(events, "error")
    assert recorded == (error["code"], error["detail"])
    assert error["code"] == "config_invalid"
    assert error["detail"].startswith(f"The model '{name}' has no key: set {variable}, ")


WORDS = "zebra quota"
REFUSED = {"error": {"message": f"{WORDS} {KEY}", "type": "x", "code": "x"}}


@pytest.mark.parametrize(
    ("status", "code", "message", "requests"),
    [
        (401, "config_invalid", "refused the key for 'openai:tiny-1' (401): check it", 1),
        (429, "unavailable", "limits requests to 'openai:tiny-1' (429)", 3),
        (500, "unavailable", "'openai:tiny-1' has failed (500)", 3),
    ],
)
async def test_a_provider_that_fails_is_named_without_its_words(
    chat: Chat,
    caplog: pytest.LogCaptureFixture,
    status: int,
    code: str,
    message: str,
    requests: int,
) -> None:
    with caplog.at_level(logging.DEBUG):
        events = await chat.ask(*[(status, REFUSED)] * 5)
    error = only(events, "error")

    assert (error["code"], len(chat.provider.requests)) == (code, requests)
    assert message in error["detail"]
    assert only(events, "done")["state"] == "failed"
    assert await chat.run_error() == (code, error["detail"])
    shown = f"{[event.data for event in events]} {caplog.text}"
    assert [secret for secret in (KEY, WORDS) if secret in shown] == []


@pytest.mark.parametrize("status", [429, 500])
async def test_a_fallback_answers_and_is_a_warning_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    monkeypatch.delenv("PEGBOARD_MODEL", raising=False)
    async with a_provider() as busy, a_provider() as other:
        named = {
            "main": {"model": "openai:main-1", "base_url": busy.url, "fallbacks": ["other"]},
            "other": {"model": "openai:other-1", "base_url": other.url},
        }
        board_file = tmp_path / "board.yaml"
        board_file.write_text(json.dumps({"models": {"smart": "main", "named": named}}))
        busy.answers += [(status, REFUSED)] * 3
        other.answers.append(text("Here."))
        async with Pegboard(board_file, data="memory") as board:
            events, _ = await ask(board, "Please")

    (warning,) = [item.getMessage() for item in caplog.records if item.name == "pegboard.models"]
    assert only(events, "done")["text"] == "Here."
    assert (len(busy.requests), len(other.requests)) == (3, 1)
    assert warning.startswith("model: 'openai:main-1' failed, the next one is asked: ")
    assert f"({status})" in warning
    assert WORDS not in caplog.text


async def test_an_answer_that_is_cut_off_is_asked_for_once_more(chat: Chat) -> None:
    cut = [*text("It is for")[:2], {"cut": True}]
    events = await chat.ask(cut, text("It is 42."))

    kinds = [event.event for event in events if event.event in {"step", "text_delta", "usage"}]
    assert kinds == ["step", "text_delta", "step", "text_delta", "usage"]
    assert only(events, "done")["text"] == "It is 42."
    first, second = chat.provider.requests
    assert first == second


async def test_an_answer_that_is_cut_off_again_fails(chat: Chat) -> None:
    cut = [*text("It is for")[:2], {"cut": True}]
    events = await chat.ask(cut, cut)

    error = only(events, "error")
    assert error["code"] == "unavailable"
    assert "cut off" in error["detail"]
    assert len(chat.provider.requests) == 2
    assert await chat.run_error() == ("unavailable", error["detail"])


async def test_a_context_that_is_too_small_is_said_and_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_provider() as provider:
        (tmp_path / "board.yaml").write_text(
            "models:\n  smart: tiny\n  named:\n    tiny:\n      model: openai:tiny-1\n"
            f"      base_url: {provider.url}\n      context_window: 256\n"
        )
        monkeypatch.delenv("PEGBOARD_MODEL", raising=False)
        async with Pegboard(tmp_path / "board.yaml", data="memory", tools=(add,)) as board:
            events, _ = await ask(board, "Please " * 500)
            recorded = await run_error(board)

    error = only(events, "error")
    assert error["code"] == "context_too_long"
    assert re.search(
        r"needs about \d+ tokens, .* has room for \d+:", error["detail"]
    )  # what it needs and has
    assert "larger window" in error["detail"]
    assert recorded == ("context_too_long", error["detail"])
    assert provider.requests == []


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/v1", "http://[::ffff:169.254.169.254]/v1"], ids=["v4", "v6"]
)
async def test_a_base_url_of_cloud_metadata_is_refused(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("PEGBOARD_MODEL", "tiny-1")
    async with Pegboard() as board:
        events, _ = await ask(board, "hi")
        recorded = await run_error(board)

    error = only(events, "error")
    assert recorded == ("config_invalid", error["detail"])
    assert error["detail"].startswith("The address of the model 'openai:tiny-1' is not allowed: ")
    assert "it leads to a cloud metadata address" in error["detail"]


async def test_a_provider_that_leads_elsewhere_is_not_followed(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_provider() as inside:
        chat.provider.redirect = f"{inside.url}/chat/completions"
        events = await chat.ask(text("never"))

    error = only(events, "error")
    assert inside.requests == []
    assert only(events, "done")["state"] == "failed"
    assert (error["code"], error["detail"]) == await chat.run_error()
    assert error["code"] == "config_invalid"
    assert "redirects requests (307), which is not followed" in error["detail"]


MARKUP = "<script>alert(1)</script>\n\nevent: done\ndata: {}\n\n<img src=x onerror=alert(2)>"


@tool(effect="read")
def page() -> str:
    """Give a page."""
    return MARKUP


async def test_markup_stays_text_and_breaks_no_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(Turn(calls=(("page", {}), ("<script>x</script>", {}))), Turn(text=MARKUP))
    board = Pegboard(model=model, tools=(page,), data=tmp_path)
    async with a_server(board) as url, patient(base_url=url) as client:
        answer = await client.post("/v1/chat", json={"message": MARKUP})
        lines = answer.text.splitlines()
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        kinds = [line[7:] for line in lines if line.startswith("event: ")]
        shown = await client.get(f"/v1/conversations/{events[0]['conversation']}")
        calls = (await board.history.calls(HistoryQuery())).calls
        (listed,) = (await board.runs.list(principal=LOCAL)).runs
        run = await board.runs.get(listed.id, principal=LOCAL)

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert kinds.count("done") == 1
    assert events[-1]["text"] == MARKUP
    assert "<script>x</script>" in [event.get("tool") for event in events]
    assert shown.headers["content-type"] == "application/json"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert shown.json()["exchanges"][0]["text"] == MARKUP
    asked = [message.text for message in model.requests[-1].messages]
    assert asked.count(MARKUP) == 2  # the question, and the result of the tool
    assert {item["tool"] for item in calls} == {"page", "<script>x</script>"}
    assert run.result.nodes[0].output["text"] == MARKUP


async def test_a_client_that_goes_away_stops_nothing(tmp_path: Path) -> None:
    model = ScriptedModel(Turn(calls=(("work", {"n": 1}),)), Turn(text="Done."))
    board = Pegboard(model=model, tools=(work,), data=tmp_path)
    async with a_server(board) as url, patient(base_url=url) as client:
        async with client.stream("POST", "/v1/chat", json={"message": "hi"}) as answer:
            id_ = answer.headers["x-conversation-id"]
        _, (sent,) = await board.conversations.get(id_, principal=LOCAL)
        events = [
            event async for event in board.conversations.follow(id_, until=sent.id, principal=LOCAL)
        ]
        _, (ended,) = await board.conversations.get(id_, principal=LOCAL)
        (run,) = (await board.runs.list(principal=LOCAL)).runs

    assert (events[-1].event, events[-1].data["text"]) == ("done", "Done.")
    assert (ended.state, ended.answer) == ("completed", "Done.")
    assert text_of(events) == "Done."
    assert (run.result.state, run.result.error) == ("completed", None)


SERVE = """
import asyncio, sys
from pathlib import Path
from tests.runtime.test_chat_faults import serve_once

asyncio.run(serve_once(Path(sys.argv[1])))
"""


@tool(effect="write")
def pay(folder: str) -> str:
    """Pay, which is seen in a file."""
    with (Path(folder) / "paid.txt").open("a", encoding="utf-8") as file:
        file.write("paid\n")
    return "paid"


async def serve_once(folder: Path) -> None:
    """Ask, and be killed when the model is asked the second time."""

    def die(_request: ModelRequest) -> Turn:
        os.kill(os.getpid(), signal.SIGKILL)
        return Turn()

    model = ScriptedModel(Turn(calls=(("pay", {"folder": str(folder)}),)), die)
    async with Pegboard(model=model, tools=(pay,), data=folder / "data") as board:
        await ask(board, "Pay")


@pytest.mark.slow
async def test_a_killed_process_repeats_no_finished_call(tmp_path: Path) -> None:
    killed = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", SERVE, str(tmp_path)], cwd=ROOT, check=False
    )
    model = ScriptedModel(Turn(text="It is paid.", expects=("paid",)))
    async with Pegboard(model=model, tools=(pay,), data=tmp_path / "data") as board:
        await board.resume_interrupted()  # as a server does when it starts
        (known,) = (await board.conversations.list(principal=LOCAL)).conversations
        events = [
            event
            async for event in board.conversations.follow(
                known.id, until=known.head, principal=LOCAL
            )
        ]
        records = (await board.history.calls(HistoryQuery())).calls

    assert killed.returncode == -signal.SIGKILL
    assert events[-1].data["text"] == "It is paid."
    assert (tmp_path / "paid.txt").read_text() == "paid\n"
    assert [(record["tool"], record["status"]) for record in records] == [("pay", "completed")]
