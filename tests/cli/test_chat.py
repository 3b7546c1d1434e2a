"""`pegboard chat`: ask, watch, approve, and continue."""

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from tests.cli.conftest import Command
from tests.models.made import Provider, call, text

from pegboard.cli.client.remote import RemoteBoard
from pegboard.cli.commands.chat import _Session
from pegboard.errors import Unavailable

pytestmark = pytest.mark.timeout(60)  # the first request imports the provider's client

ORDER = '''
@tool(effect="write")
async def order(*, ctx: ToolContext) -> str:
    """Order a shirt; ask for its size."""
    from pegboard.core.elicitation import Question

    schema = {"type": "object", "properties": {"size": {"type": "integer"}}}
    return (await ctx.ask(Question(message="Which size?", schema=schema))).action
'''
SLOW = '''
@tool(effect="write")
async def slow() -> str:
    """Take long."""
    import asyncio
    from pathlib import Path

    Path("begun").touch()
    await asyncio.sleep(3)
    Path("paid").touch()
    return "paid"
'''
Chat = Callable[..., "At"]
GREET = call("my__greet", '{"name": "Ada"}')


def test_an_answer_is_printed_with_the_tools_that_it_uses(
    provider: Provider, pegboard: Command
) -> None:
    provider.answers += [GREET, text("She says ", "hello.")]
    done = pegboard("chat", "Greet Ada")

    assert done.returncode == 0
    assert done.stdout == "She says hello.\n"
    assert '* my__greet {"name": "Ada"}' in done.stderr
    assert "Hello Ada!" in done.stderr


def test_a_conversation_is_continued_and_printed_as_json(
    provider: Provider, pegboard: Command
) -> None:
    provider.answers += [text("Hello."), text("Again.")]
    first = json.loads(pegboard("chat", "hi", "--json", "--data", "data").stdout)
    done = pegboard("chat", "again", "-c", first["conversation"], "--data", "data")

    assert first["events"][-1]["text"] == "Hello."
    assert done.stdout == "Again.\n"
    assert [m["role"] for m in provider.requests[1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]


def test_a_call_that_needs_approval_says_how_to_give_it(
    provider: Provider, pegboard: Command
) -> None:
    provider.answers.append(call("my__wipe"))
    done = pegboard("chat", "wipe it", "--data", "data")

    assert done.returncode == 3
    assert "pegboard approvals approve ap_" in done.stderr


def test_after_the_approval_the_conversation_goes_on_with_the_answer(
    provider: Provider, pegboard: Command
) -> None:
    provider.answers += [call("my__wipe"), text("Wiped.")]
    asked = pegboard("chat", "wipe it", "--data", "data")
    on = re.search(r"pegboard (chat -c \w+)", asked.stderr)
    approve = re.search(r"pegboard (approvals approve \w+)", asked.stderr)
    assert on is not None
    assert approve is not None

    undecided = pegboard(*on[1].split(), "--data", "data")
    pegboard(*approve[1].split(), "--data", "data")
    answered = pegboard(*on[1].split(), "--data", "data")
    shown_again = pegboard(*on[1].split(), "--data", "data")

    assert undecided.returncode == 3
    assert approve[1] in undecided.stderr
    assert (answered.returncode, answered.stdout) == (0, "Wiped.\n")
    assert shown_again.stdout == "Wiped.\n"
    assert len(provider.requests) == 2


def test_a_destructive_call_is_approved_once_only(provider: Provider, pegboard: Command) -> None:
    provider.answers.append(call("my__wipe"))
    pegboard("chat", "wipe it", "--data", "data")
    (waiting,) = json.loads(pegboard("approvals", "list", "--data", "data", "--json").stdout)[
        "approvals"
    ]
    always = pegboard("approvals", "approve", waiting["id"], "--for", "tool", "--data", "data")
    once = pegboard("approvals", "approve", waiting["id"], "--data", "data")

    assert always.returncode != 0
    assert "'my__wipe' may destroy or overwrite something" in always.stderr
    assert "state: approved" in once.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("chat", "hi", "-c", "nothing"), "no conversation"),
        (
            ("chat", "hi", "--model", "nobody:x"),
            "no model 'nobody:x' on this board; choose one of smart",
        ),
        (("chat", "hi", "--engine", "magic"), "no engine 'magic'; known are auto, dag, react"),
    ],
)
def test_what_cannot_be_asked_fails_with_the_reason(
    arguments: tuple[str, ...], says: str, provider: Provider, pegboard: Command
) -> None:
    done = pegboard(*arguments)

    assert done.returncode in {1, 2}
    assert says in done.stderr


def test_a_file_comes_with_the_question(
    provider: Provider, pegboard: Command, folder: Path
) -> None:
    (folder / "report.csv").write_text("a,b")
    provider.answers.append(text("Two columns."))
    done = pegboard("chat", "What is this?", "--file", "report.csv")

    assert done.stdout == "Two columns.\n"
    question = provider.requests[0]["messages"][-1]["content"]
    assert question == "What is this?\n\nFiles in the workspace: `report.csv` (3 bytes)"


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
async def test_an_answer_that_a_stopped_server_does_not_finish_is_an_error(
    as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = b'event: text_delta\ndata: {"conversation": "c", "text": "Half"}\n\n'
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=sent))
    session = _Session("", agent="", model="", engine="", files=[], json=as_json)
    async with httpx2.AsyncClient(transport=transport, base_url="http://server/v1") as client:
        with pytest.raises(Unavailable, match="the server stopped"):
            await session.ask(RemoteBoard(client, "http://server"), "hi")

    assert "Half" in f"{capsys.readouterr().out} {session.unfinished}"


@pytest.mark.slow
def test_a_call_that_lacks_a_credential_says_where_to_store_one(
    provider: Provider, pegboard: Command, folder: Path
) -> None:
    (folder / "board.yaml").write_text(
        "sources:\n  - kind: openapi\n    name: github\n    config:\n"
        "      base_url: https://api.example.com\n      auth: {kind: caller}\n"
        "      actions: [{name: whoami, path: /whoami}]\n"
    )
    provider.answers.append(call("github__whoami"))
    done = pegboard("chat", "Who am I?", "--data", "data")

    assert done.returncode == 3
    assert (
        "github__whoami needs an account of yours: you have no credential for 'github'.\n"
        in done.stderr
    )
    assert "Store one: pegboard credentials add github" in done.stderr
    assert "approvals approve" not in done.stderr


def test_a_question_of_a_tool_is_declined_where_nobody_is_at_a_terminal(
    provider: Provider, pegboard: Command, folder: Path
) -> None:
    tools = folder / "tools.py"
    tools.write_text(f"{tools.read_text()}\n{ORDER}")
    provider.answers += [call("my__order"), text("Not ordered.")]
    done = pegboard("chat", "Order a shirt")

    assert done.stdout == "Not ordered.\n"
    assert "asks, by its tool my__order:\n  | Which size?" in done.stderr
    assert "Declined: there is no terminal to answer at." in done.stderr
    assert "done in" in done.stderr
    assert "decline" in done.stderr


class At:
    """A chat at a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pegboard", "chat", *arguments],
            cwd=folder,
            env={**{k: v for k, v in os.environ.items() if k != "PEGBOARD_DATA"}},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)

    def read_until(self, text: str) -> str:
        shown = ""
        while text not in shown:
            try:
                shown += os.read(self._ours, 65536).decode().replace("\r\n", "\n")
            except OSError:  # it has ended
                pytest.fail(f"It never showed {text!r}:\n{shown}")
        return shown

    def type(self, line: str) -> None:
        os.write(self._ours, line.encode())

    def press(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self._ours)


@contextmanager
def a_server(folder: Path) -> Generator[str]:
    """The address of a server of the board, ended by its id whatever happens."""
    command = [sys.executable, "-m", "pegboard", "serve", "--port", "0", "--data", "data"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "http://" in line)
        found = re.search(r"http://[\w.:]+", line)
        assert found is not None
        yield found.group()
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def chat_in(folder: Path) -> Generator[Chat]:
    """Starts a chat at a terminal."""
    tools = folder / "tools.py"
    tools.write_text(f"{tools.read_text()}\n{SLOW}\n{ORDER}")
    opened: list[At] = []

    def start(*arguments: str) -> At:
        opened.append(At(folder, *arguments))
        return opened[-1]

    yield start
    for it in opened:
        it.close()


def test_an_interrupt_stops_the_answer_and_the_session_goes_on(
    provider: Provider, chat_in: Chat, pegboard: Command, folder: Path
) -> None:
    provider.answers += [
        call("my__slow"),
        call("my__wipe"),
        call("my__order"),
        text("Still here."),
    ]
    at = chat_in("--data", "data")
    at.read_until("> ")
    at.type("Pay\n")
    at.read_until("* my__slow")
    at.press()
    stopped = at.read_until("\n> ")
    at.type("Wipe\n")
    at.read_until("Approve?")
    at.press()
    not_wiped = at.read_until("\n> ")
    at.type("Order\n")
    at.read_until("Answer?")
    at.press()
    not_ordered = at.read_until("\n> ")
    at.type("Are you there?\n")
    at.read_until("Still here.\n> ")
    at.press()
    left = at.read_until("pegboard chat -c c_")
    code = at.process.wait(20)
    runs = json.loads(pegboard("runs", "list", "--data", "data", "--json").stdout)["runs"]

    assert "Stopping the answer" in stopped
    assert all("Stopped." in shown for shown in (stopped, not_wiped, not_ordered))
    assert "Go on with the conversation" in left
    assert code == 130
    assert not (folder / "paid").exists()
    assert [run["state"] for run in runs] == ["completed", *["cancelled"] * 3]


def test_an_answer_that_failed_before_is_no_failure_of_who_only_looks(
    provider: Provider, chat_in: Chat, pegboard: Command
) -> None:
    provider.answers.append((400, {"error": {"message": "no"}}))
    asked = pegboard("chat", "Hi", "--data", "data", "--json")
    at = chat_in("-c", json.loads(asked.stdout)["conversation"], "--data", "data")
    at.read_until("> ")
    at.type("\x04")

    assert (asked.returncode, at.process.wait(20)) == (1, 0)


@pytest.mark.parametrize(
    ("if_open", "kinds"), [(False, ["text_delta", "done"]), (True, [])], ids=["always", "if open"]
)
async def test_the_last_answer_of_a_server_is_followed_to_its_end(
    *, if_open: bool, kinds: list[str]
) -> None:
    exchanges = [
        {"id": "m1", "position": "1-0", "state": "completed"},
        {"id": "m2", "position": "2-0", "state": "completed"},
        {"id": "m4", "position": "4-0", "state": "withdrawn"},
        {"id": "m3", "position": "3-0", "state": "steered"},
    ]
    events = (
        'event: text_delta\ndata: {"message": "m2", "text": "Yes."}\n\n'
        'event: done\ndata: {"message": "m2", "state": "completed"}\n\n'
        'event: run_started\ndata: {"message": "m3"}\n\n'
    )

    def serve(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/conversations/c":
            return httpx2.Response(200, json={"exchanges": exchanges})
        assert (request.url.path, request.url.query) == (
            "/v1/conversations/c/events",
            b"after=2-0",
        )
        return httpx2.Response(200, text=events)

    transport = httpx2.MockTransport(serve)
    async with httpx2.AsyncClient(transport=transport, base_url="http://server/v1") as client:
        conversations = RemoteBoard(client, "http://server").conversations
        found = [it.event async for it in conversations.follow_last("c", if_open=if_open)]

    assert found == kinds


async def test_an_interrupt_withdraws_a_question_that_waits_for_another_answer() -> None:
    asked: list[str] = []
    is_withdrawn = asyncio.Event()

    async def events() -> AsyncGenerator[bytes]:
        of_it = '"conversation": "c", "message": "m"'
        yield f"event: message_queued\ndata: {{{of_it}}}\n\n".encode()
        os.kill(os.getpid(), signal.SIGINT)
        await is_withdrawn.wait()
        yield f'event: done\ndata: {{{of_it}, "state": "withdrawn"}}\n\n'.encode()

    def serve(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/chat":
            return httpx2.Response(200, content=events())
        asked.append(f"{request.method} {request.url.path}")
        is_withdrawn.set()
        return httpx2.Response(200, json={})

    session = _Session("c", agent="", model="", engine="", files=[], json=False)
    transport = httpx2.MockTransport(serve)
    async with httpx2.AsyncClient(transport=transport, base_url="http://server/v1") as client:
        state = await session.ask(RemoteBoard(client, "http://server"), "hi")

    assert (state, asked) == ("interrupted", ["DELETE /v1/conversations/c/queue/m"])


@pytest.mark.slow  # a server and a command start
def test_an_interrupt_stops_the_answer_of_a_server(
    provider: Provider, chat_in: Chat, folder: Path
) -> None:
    provider.answers += [call("my__slow"), text("Paid.")]
    with a_server(folder) as address:
        at = chat_in("Pay", "--url", address)
        at.read_until("* my__slow")
        at.press()
        at.read_until("Stopped.")
        code = at.process.wait(20)
        runs = httpx2.get(f"{address}/v1/runs").json()["runs"]

    assert code == 130
    assert [run["state"] for run in runs] == ["cancelled"]
