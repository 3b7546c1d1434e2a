"""What a real MCP server asks in a chat."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from tests.features.conversations.test_questions import answer, until
from tests.sources.mcp.opening import over_http
from tests.sources.mcp.workshop import server as workshop

from pegboard.core.graph import Graph, Node
from pegboard.core.model_messages import ModelUsage, UserMessage
from pegboard.core.principal import LOCAL
from pegboard.features.completions import CompletionRequest
from pegboard.features.conversations import NewMessage
from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn

pytestmark = [
    pytest.mark.timeout(60),  # the first connection imports the MCP library
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

BOARD = """
sources:
  - kind: mcp
    name: shop
    config: {{url: "{url}", protocol: {protocol}}}
policy: {{allow: ["shop__*"]}}
network: {{allow_hosts: ["127.0.0.1"]}}
"""
CALL = Turn(calls=(("shop__colour", {}),))


@asynccontextmanager
async def a_board(
    folder: Path,
    *turns: Turn,
    model: ScriptedModel | None = None,
    server: Any = workshop,
    protocol: str = "legacy",
) -> AsyncGenerator[Pegboard]:
    """A board with a server that listens in this process."""
    async with over_http(server) as served:
        (folder / "board.yaml").write_text(BOARD.format(url=served.url, protocol=protocol))
        async with Pegboard(folder / "board.yaml", model=model or ScriptedModel(*turns)) as board:
            yield board


async def test_a_server_asks_the_person_of_the_chat(tmp_path: Path) -> None:
    async with a_board(tmp_path, CALL, Turn(text="Red.")) as board:
        sent = await board.conversations.send(NewMessage(text="Which colour?"), principal=LOCAL)
        following = board.conversations.follow(sent.conversation, until=sent.id, principal=LOCAL)
        async with aclosing(following) as events:
            asked = await until(events, "question_required")
            await answer(board, asked, "accept", {"colour": "red"})
            finished = await until(events, "tool_finished")

    about = {name: asked.data[name] for name in ("tool", "source", "source_kind", "text")}
    assert about == {
        "tool": "shop__colour",
        "source": "shop",
        "source_kind": "mcp",
        "text": "Which colour?",
    }
    assert asked.data["schema"]["required"] == ["colour"]
    assert "accept" in finished.data["text"]
    assert "red" in finished.data["text"]


RHYME = Turn(calls=(("shop__rhyme", {}),))


async def test_a_server_asks_the_model_of_the_chat_once_the_person_has_allowed_it(
    tmp_path: Path,
) -> None:
    rhyme = Turn(text="True.", usage=ModelUsage(requests=1, input_tokens=5, output_tokens=2))
    model = ScriptedModel(RHYME, rhyme, Turn(text="It rhymes."))
    async with a_board(tmp_path, model=model) as board:
        sent = await board.conversations.send(NewMessage(text="Secret plans."), principal=LOCAL)
        following = board.conversations.follow(sent.conversation, until=sent.id, principal=LOCAL)
        async with aclosing(following) as events:
            asked = await until(events, "question_required")
            await answer(board, asked, "accept", {})
            finished = await until(events, "tool_finished")
            done = await until(events, "done")

    assert (asked.data["tool"], asked.data["source"]) == ("shop__rhyme", "shop")
    assert "scripted" in asked.data["text"]
    assert asked.data["text"].endswith("[user]\nA rhyme on glue")
    assert "True." in finished.data["text"]
    assert model.requests[1].messages == (UserMessage(text="A rhyme on glue"),)
    assert model.requests[1].settings.max_output == 20
    assert model.requests[1].tools == ()
    assert done.data["usage"]["requests"] == 3


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_model_that_the_person_does_not_allow_is_not_asked(
    tmp_path: Path, action: str
) -> None:
    model = ScriptedModel(RHYME, Turn(text="No rhyme."))
    async with a_board(tmp_path, model=model) as board:
        sent = await board.conversations.send(NewMessage(text="A rhyme?"), principal=LOCAL)
        following = board.conversations.follow(sent.conversation, until=sent.id, principal=LOCAL)
        async with aclosing(following) as events:
            asked = await until(events, "question_required")
            await answer(board, asked, action)
            finished = await until(events, "tool_finished")
            await until(events, "done")

    assert "has not allowed this request to the model" in str(finished.data)
    assert len(model.requests) == 2


async def test_a_graph_without_an_agent_has_no_model_to_ask(tmp_path: Path) -> None:
    graph = Graph(nodes=(Node(id="rhyme", tool="shop__rhyme"),))
    async with a_board(tmp_path) as board:
        view = await board.runs.start_graph(graph, principal=LOCAL)
        ended = await board.runs.wait(view.id, principal=LOCAL)

    assert "No agent makes this call" in str(ended.result.nodes[0].error)


async def test_nobody_is_asked_where_a_client_of_the_openai_api_waits(tmp_path: Path) -> None:
    async with a_board(tmp_path, CALL, Turn(text="No colour.")) as board:
        request = CompletionRequest(messages=[UserMessage(text="Which colour?")])
        run_id = await board.completions.start(request, principal=LOCAL)
        end = await board.completions.finish(run_id, principal=LOCAL)

    told = next(item for item in end.messages if getattr(item, "is_error", False))
    assert "the client of this API answers nothing" in getattr(told, "text", "")
    assert end.text == "No colour."


tailor: Any = MCPServer("tailor")
"""A server that asks in rounds: each answer comes with the request, made again."""


def _ask(name: str, message: str, kind: str, state: str) -> InputRequiredResult:
    form = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    params = ElicitRequestFormParams(message=message, requested_schema=form)
    return InputRequiredResult(
        input_requests={name: ElicitRequest(params=params)}, request_state=state
    )


@tailor.tool()
async def dress(ctx: Context[Any, Any]) -> str | InputRequiredResult:
    """Sew a dress; ask for its colour, and then for its size."""
    if ctx.request_state is None:
        return _ask("colour", "Which colour?", "string", "asked")
    responses: dict[str, Any] = dict(ctx.input_responses or {})
    given: dict[str, Any] = {name: item.content for name, item in responses.items()}
    if "colour" in given:
        return _ask("size", "Which size?", "integer", given["colour"]["colour"])
    return f"{ctx.request_state}, {given['size']['size']}"


async def test_a_server_that_asks_in_rounds_gets_each_answer(tmp_path: Path) -> None:
    call = Turn(calls=(("shop__dress", {}),))
    async with a_board(tmp_path, call, Turn(text="Sewn."), server=tailor, protocol="auto") as board:
        sent = await board.conversations.send(NewMessage(text="A dress."), principal=LOCAL)
        following = board.conversations.follow(sent.conversation, until=sent.id, principal=LOCAL)
        asked: list[str] = []
        async with aclosing(following) as events:
            for content in ({"colour": "red"}, {"size": 38}):
                question = await until(events, "question_required")
                asked.append(question.data["text"])
                assert await answer(board, question, "accept", content) == "accepted"
            finished = await until(events, "tool_finished")
            await until(events, "done")

    assert asked == ["Which colour?", "Which size?"]
    assert "red, 38" in finished.data["text"]
