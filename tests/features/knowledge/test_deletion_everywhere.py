"""A deleted document is in no table and no file, whichever door has read it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import psycopg
import pytest
from tests.graphs.made import call
from tests.storage.conftest import postgres, postgres_server

from pegboard import Pegboard, tool
from pegboard.core.context import ToolContext
from pegboard.core.graph import Graph
from pegboard.core.model_messages import AssistantMessage, UserMessage
from pegboard.core.principal import LOCAL
from pegboard.errors import RunNotFound
from pegboard.features.completions import CompletionRequest
from pegboard.features.conversations.new_message import NewMessage
from pegboard.features.knowledge import DocumentQuery, NewBase, NewDocument
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.features.knowledge.quotes import REMOVED
from pegboard.planning import PlanRequest
from pegboard.runtime import Settings
from pegboard.testing import ScriptedModel, Turn

__all__ = ["postgres", "postgres_server"]

SENTENCE = "The zanzibar bonus of the director is 90 thousand in a year."
TEXT = f"# Salaries\n\n{SENTENCE}\n"
BROKEN = b"%PDF-1.7 nothing"
QUESTION = "What is the bonus of the director?"
STARTED = asyncio.Event()
LOOK = Turn(calls=(("kb_retrieve", {"question": QUESTION}),))
SEND = Turn(calls=(("send", {"text": SENTENCE}),))
DELEGATE = Turn(calls=(("call_agent", {"agent_id": "clerk", "task": QUESTION}),))
SAID = Turn(text=f"It is said that {SENTENCE[:-1]} [1].")
BOARD = """
sources: []
policy: {ask: [send]}
agents:
  - {name: clerk, description: Knows the handbook., kb_ids: [handbook]}
"""


@tool(effect="read")
def repeat(text: str) -> str:
    """Give a text back."""
    return text


@tool(effect="write")
def send(text: str) -> str:
    """Send a text."""
    return text


@tool(effect="read")
async def linger(text: str) -> str:
    """Take a while."""
    STARTED.set()
    await asyncio.sleep(3600)
    return text


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def put(board: Pegboard, base: KnowledgeBase, title: str, data: bytes) -> str:
    """The id of a document that has been taken in, or has failed."""
    documents = board.knowledge.documents
    new = NewDocument(name="a.pdf" if data is BROKEN else "a.md", title=title, chunks=_once(data))
    row, _ = await documents.add(base, new, principal=LOCAL)
    while row.state not in {"ready", "failed"}:
        await asyncio.sleep(0.02)
        row = await documents.get(base, row.id, principal=LOCAL)
    return row.id


async def until(is_true: Callable[[], Awaitable[object]]) -> None:
    """Wait until something is true."""
    while not await is_true():  # noqa: ASYNC110 - others make it true
        await asyncio.sleep(0.02)


async def chat(board: Pegboard, model: ScriptedModel, text: str, conversation: str = "") -> str:
    """The conversation in which a model looks the question up and answers with this text."""
    model.add([LOOK, Turn(text=text)])
    sent = await board.conversations.send(
        NewMessage(text=QUESTION, conversation=conversation), principal=LOCAL
    )

    async def is_answered() -> bool:
        _, exchanges = await board.conversations.get(sent.conversation, principal=LOCAL)
        return exchanges[-1].finished_at is not None

    await until(is_answered)
    return sent.conversation


def keyed(key: str) -> ToolContext[None]:
    """The context of a call whose first result is kept."""
    return ToolContext(principal=LOCAL, idempotency_key=key)


def look_up(then: str) -> Graph:
    """Asks the base, and calls a tool with what was found."""
    nodes = (
        call("find", "kb_retrieve", input={"question": QUESTION}),
        call("then", then, "find", input={"text": "$.steps.find.output.citations[0].quote"}),
    )
    return Graph(nodes=nodes, name="look_up")


def find_traces(folder: Path, address: str) -> list[str]:
    """The files and tables in which a word of the document stands."""
    words = (b"zanzibar", b"Quagga")
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = [it.name for it in files if any(word in it.read_bytes() for word in words)]
    if address:
        with psycopg.connect(address) as connection:
            tables = [
                row[0]
                for row in connection.execute(
                    "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                )
            ]
            for table in tables:
                rows = connection.execute(f'SELECT * FROM "{table}"'.encode()).fetchall()
                if any(word in _as_bytes(row) for row in rows for word in words):
                    found.append(table)
    return sorted(found)


def _as_bytes(row: tuple[object, ...]) -> bytes:
    return b" ".join(it if isinstance(it, bytes) else str(it).encode() for it in row)


async def ask_through_runs(board: Pegboard, model: ScriptedModel, document: str) -> list[str]:
    """Have the document read by runs that are started in each way; their ids."""
    plan = PlanRequest(goal="kb_retrieve", params={"question": QUESTION})
    made = await board.plans.make(plan, principal=LOCAL)
    planned = await board.runs.start_plan(made.id, {}, principal=LOCAL)
    called = await board.runs.start_call("kb_open", {"document": document}, principal=LOCAL)
    model.add([LOOK, SAID])
    asked = CompletionRequest(messages=[UserMessage(text=QUESTION)])
    answer = await board.completions.start(asked, principal=LOCAL)
    assert SENTENCE[:-1] in (await board.completions.finish(answer, principal=LOCAL)).text
    model.add([Turn(text="Yes.")])
    earlier = await board.completions.read_messages(answer, principal=LOCAL)
    again = CompletionRequest(messages=[*earlier, UserMessage(text="Is it much?")])
    next_answer = await board.completions.start(again, principal=LOCAL)
    await board.completions.finish(next_answer, principal=LOCAL)
    model.add([Turn(text="No.")])
    said = [UserMessage(text="Tell me."), AssistantMessage(text=SAID.text)]
    sent = CompletionRequest(messages=[*said, UserMessage(text="Is it little?")])
    of_client = await board.completions.start(sent, principal=LOCAL)
    await board.completions.finish(of_client, principal=LOCAL)
    model.add([LOOK, SEND])
    waits = await board.completions.start(asked, principal=LOCAL)
    graph = await board.runs.start_graph(look_up("send"), principal=LOCAL)

    async def are_waiting() -> bool:
        return len((await board.approvals.list(principal=LOCAL)).approvals) == 2

    await until(are_waiting)
    for run in (planned.id, called.id):
        await board.runs.wait(run, principal=LOCAL)
    return [planned.id, called.id, answer, next_answer, of_client, waits, graph.id]


async def delegate(board: Pegboard, model: ScriptedModel) -> str:
    """The conversation in which another agent has read the document."""
    model.add([DELEGATE, LOOK, SAID, SAID])
    sent = await board.conversations.send(NewMessage(text=QUESTION), principal=LOCAL)

    async def is_answered() -> bool:
        _, exchanges = await board.conversations.get(sent.conversation, principal=LOCAL)
        return exchanges[-1].finished_at is not None

    await until(is_answered)
    return sent.conversation


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_runs_of_each_kind_that_read_a_document_go_with_it(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = ScriptedModel()
    address = settings.database.get_secret_value() if settings.database else ""
    assert settings.data is not None
    file = tmp_path_factory.mktemp("board") / "board.yaml"
    file.write_text(BOARD)
    tools = [repeat, send]
    async with Pegboard(file, settings=settings, tools=tools, model=model) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        document = await put(board, base, "Salaries", TEXT.encode())
        talk = await delegate(board, model)
        _, (before,) = await board.conversations.get(talk, principal=LOCAL)
        runs = await ask_through_runs(board, model, document)
        assert find_traces(settings.data, address)

        await board.knowledge.documents.delete(base, document, principal=LOCAL)

        _, (exchange,) = await board.conversations.get(talk, principal=LOCAL)
        for run in runs:
            with pytest.raises(RunNotFound):
                await board.runs.get(run, principal=LOCAL)
        assert (await board.approvals.list(principal=LOCAL)).approvals == []
    assert SENTENCE[:-1] in before.answer
    assert REMOVED in exchange.answer
    assert find_traces(settings.data, address) == []


@pytest.fixture(params=["sqlite", "postgres"])
def settings(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    """Of a board that stores in a file, or in PostgreSQL."""
    given: dict[str, object] = {"data": tmp_path}
    if request.param == "postgres":
        given["database"] = request.getfixturevalue("postgres")
    return Settings.model_validate(given)


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_a_deleted_document_is_in_no_table_and_no_file(settings: Settings) -> None:
    STARTED.clear()
    model = ScriptedModel()
    address = settings.database.get_secret_value() if settings.database else ""
    assert settings.data is not None
    async with Pegboard(settings=settings, tools=[repeat, linger], model=model) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        broken = await put(board, base, "Quagga", BROKEN)
        document = await put(board, base, "Salaries", TEXT.encode())
        for mode in ("simple", "grounding"):
            await board.knowledge.ask(base, QUESTION, mode=mode, principal=LOCAL)
        for name, given in (
            ("kb_retrieve", {"question": QUESTION}),
            ("grounded_retrieve", {"question": QUESTION}),
            ("kb_open", {"document": document}),
            ("kb_grep", {"document": document, "pattern": "director"}),
        ):
            assert (await board.call(name, given, keyed(name))).error is None
        ended = await board.runs.start_graph(look_up("repeat"), principal=LOCAL)
        ended = await board.runs.wait(ended.id, principal=LOCAL)
        assert SENTENCE in str(ended)
        going = await board.runs.start_graph(look_up("linger"), principal=LOCAL)
        talk = await chat(board, model, f"It is said that {SENTENCE[:-1]} [1]. Ask on.")
        await STARTED.wait()
        assert find_traces(settings.data, address)

        for id_ in (document, broken):
            await board.knowledge.documents.delete(base, id_, principal=LOCAL)

        _, (exchange,) = await board.conversations.get(talk, principal=LOCAL)
        for run in (ended, going):
            with pytest.raises(RunNotFound):
                await board.runs.get(run.id, principal=LOCAL)
        listed, _ = await board.knowledge.documents.list_page(
            base, DocumentQuery(), principal=LOCAL
        )
        assert listed == []
        assert exchange.answer == f"It is said that {REMOVED} [1]. Ask on."
    assert find_traces(settings.data, address) == []
