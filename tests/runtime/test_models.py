"""Which language model the agents of a board use."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from json import dumps
from pathlib import Path

import pytest
from tests.features.conversations.made import ask, text_of
from tests.models.made import Provider, a_provider, call, text

from pegboard import tool
from pegboard.core.graph import Graph, Node
from pegboard.core.principal import LOCAL
from pegboard.errors import ConfigError, ModelNotConfigured
from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel

NAMES = (
    "PEGBOARD_MODEL",
    "PEGBOARD_FAST_MODEL",
    "PEGBOARD_EMBED_MODEL",
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@tool(effect="read")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def test_a_real_server_answers_with_the_boards_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_provider() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        monkeypatch.setenv("PEGBOARD_MODEL", "tiny-1")
        provider.answers += [call("add", '{"a": 1, "b": 2}'), text("It is ", "3.")]
        async with Pegboard(tools=[add]) as board:
            events, _ = await ask(board, "What is 1 + 2?")

    assert text_of(events) == "It is 3."
    assert provider.requests[1]["messages"][-1]["content"] == "3"
    assert provider.requests[0]["model"] == "tiny-1"


async def test_the_only_model_of_a_server_needs_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_provider() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        provider.answers.append(text("Hello."))
        async with Pegboard() as board:
            events, _ = await ask(board, "hi")

    assert text_of(events) == "Hello."


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "Set PEGBOARD_MODEL"),
        ({"OPENAI_BASE_URL": "URL"}, "lists one, two: name one with PEGBOARD_MODEL"),
        ({"PEGBOARD_MODEL": "nobody:x"}, "no provider 'nobody'"),
        ({"OPENAI_BASE_URL": "localhost", "PEGBOARD_MODEL": "x"}, "begin with http"),
    ],
    ids=["nothing", "several models", "an unknown provider", "no address"],
)
async def test_what_is_missing_is_named_in_the_answer(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], message: str
) -> None:
    async with a_provider() as provider:
        provider.models = ["one", "two"]
        for name, value in settings.items():
            monkeypatch.setenv(name, provider.url if value == "URL" else value)
        async with Pegboard() as board:
            events, _ = await ask(board, "hi")

    assert message in str(events[-2].data["detail"])


BOARD = """
models:
  smart: main
  fast: openai:tiny-fast
  embed: vectors
  vision: vectors
  rerank: order
  named:
    main:
      model: openai:tiny-main
      title: Main one
      base_url: {url}
      api_key: ${{MAIN_KEY}}
      retries: 0
      fallbacks: [spare]
      limits: {{concurrency: 1}}
    spare: {{model: openai:tiny-spare, base_url: "{url}"}}
    vectors: {{model: openai:tiny-vectors, base_url: "{url}"}}
    order: {{model: openai:tiny-order, base_url: "{url}"}}
"""
DOWN = (503, {"error": {"message": "down"}})


@asynccontextmanager
async def a_board(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **environ: str
) -> AsyncGenerator[tuple[Pegboard, Provider]]:
    """A board with models of its own, and the server that they are on."""
    monkeypatch.setenv("MAIN_KEY", "sk-main")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    async with a_provider() as provider:
        (folder / "board.yaml").write_text(BOARD.format(url=provider.url))
        async with Pegboard(folder / "board.yaml", data="memory") as board:
            yield board, provider


async def test_models_of_the_board_file_answer_each_with_its_own_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    async with a_board(tmp_path, monkeypatch) as (board, provider):
        provider.answers += [text("One."), text("Two.")]
        first, _ = await ask(board, "hi")
        second, _ = await ask(board, "hi", model="spare")

    assert (text_of(first), text_of(second)) == ("One.", "Two.")
    assert [asked["model"] for asked in provider.requests] == ["tiny-main", "tiny-spare"]
    assert [headers["authorization"] for headers in provider.headers] == [
        "Bearer sk-main",
        "Bearer none",
    ]


async def test_a_fallback_answers_where_the_provider_is_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_board(tmp_path, monkeypatch) as (board, provider):
        provider.answers += [DOWN, text("Hello.")]
        events, _ = await ask(board, "hi")

    assert text_of(events) == "Hello."
    assert [asked["model"] for asked in provider.requests] == ["tiny-main", "tiny-spare"]


async def test_variables_prevail_over_the_roles_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"PEGBOARD_MODEL": "spare", "PEGBOARD_FAST_MODEL": "tiny-other"}
    async with a_board(tmp_path, monkeypatch, **environ) as (board, _):
        models = board.models

        assert (await models.get()).name == "openai:tiny-spare"
        assert (await models.get("smart")).name == "openai:tiny-spare"
        assert (await models.get("fast")).name == "openai:tiny-other"


async def test_variables_name_the_models_that_read_pictures_and_rerank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"PEGBOARD_VISION_MODEL": "spare", "PEGBOARD_RERANK_MODEL": "cohere:other"}
    async with a_board(tmp_path, monkeypatch, **environ) as (board, _):
        reader, reranker = board.models.find_picture_reader(), board.models.find_reranker()

    assert reader is not None
    assert reranker is not None
    assert (reader.name, reranker.name) == ("openai:tiny-spare", "cohere:other")


async def test_roles_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_board(tmp_path, monkeypatch) as (board, provider):
        embedder = board.models.find_embedder()
        assert embedder is not None

        assert await embedder.embed(["abc"]) == [[3.0, 0.5]]
        assert embedder is board.models.find_embedder()
        reader = board.models.find_picture_reader()
        assert reader is not None
        reranker = board.models.find_reranker()
        assert reranker is not None
        assert (reranker.name, reranker) == ("openai:tiny-order", board.models.find_reranker())
        assert (reader.name, reader) == (embedder.name, board.models.find_picture_reader())
        assert (await board.models.get("fast")).name == "openai:tiny-fast"
        assert provider.requests[0]["model"] == "tiny-vectors"


async def test_models_with_a_name_and_those_of_roles_can_be_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_board(tmp_path, monkeypatch) as (board, _):
        of_the_file = board.models.choices.list(principal=LOCAL)
        for name in ("main", "smart", "fast", "openai:tiny-fast", "spare"):
            assert board.models.choices.resolve_name(name, principal=LOCAL) == name
        for name in ("vectors", "openai:tiny-main", "openai:any"):
            with pytest.raises(ModelNotConfigured, match="choose one of main, fast, spare"):
                board.models.choices.resolve_name(name, principal=LOCAL)

    assert of_the_file == [
        {"name": "main", "title": "Main one", "provider": "openai", "role": "smart"},
        {"name": "fast", "title": "tiny-fast", "provider": "openai", "role": "fast"},
        {"name": "spare", "title": "spare", "provider": "openai", "role": ""},
    ]


@pytest.mark.parametrize(
    ("environ", "names", "titles"),
    [
        ({}, ["main"], []),
        ({"PEGBOARD_MODEL": "anthropic:big"}, ["smart", "fast", "anthropic:big"], ["big"]),
        ({"PEGBOARD_MODEL": "big"}, ["smart", "big", "openai:big"], ["big"]),
        (
            {"PEGBOARD_MODEL": "anthropic:big", "PEGBOARD_FAST_MODEL": "small"},
            ["fast", "small", "anthropic:small"],
            ["big", "small"],
        ),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9"}, ["smart"], ["The model of the server"]),
    ],
    ids=["none", "one", "a name alone", "two", "the only one of a server"],
)
async def test_the_models_of_the_environment_can_be_chosen(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], names: list[str], titles: list[str]
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    async with Pegboard() as board:
        choices = board.models.choices
        known = [choice["title"] for choice in choices.list(principal=LOCAL)]
        if titles:
            assert [choices.resolve_name(name, principal=LOCAL) for name in names] == names

    assert known == titles


async def test_the_model_of_a_program_is_the_only_one() -> None:
    async with Pegboard(model=ScriptedModel(name="test:script")) as board:
        choices = board.models.choices
        (shown,) = choices.list(principal=LOCAL)

        assert [
            choices.resolve_name(name, principal=LOCAL) for name in ("smart", "fast", "test:script")
        ]
        assert (shown["name"], shown["title"], shown["provider"]) == (
            "smart",
            "test:script",
            "test",
        )


async def test_a_graph_cannot_name_a_model_that_the_board_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_board(tmp_path, monkeypatch) as (board, provider):
        config = {"model": "openai:any"}
        node = Node(id="agent", kind="agent", input={"message": "hi"}, config=config)
        view = await board.runs.start_graph(Graph(nodes=(node,)), principal=LOCAL)
        ended = await board.runs.wait(view.id, principal=LOCAL)

    assert "no model 'openai:any'" in (ended.result.error or {})["message"]
    assert provider.requests == []


async def test_steps_of_a_goal_use_the_fast_model_with_its_own_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_board(tmp_path, monkeypatch, PEGBOARD_FAST_MODEL="spare") as (board, provider):
        step = {"id": "a", "title": "A", "task": "Add.", "dependencies": [], "model_hint": "fast"}
        other = {**step, "id": "b", "title": "B"}
        judged = {"achieved": True, "confidence": 1, "reason": "Done.", "missing": ""}
        provider.answers += [
            text(dumps({"steps": [step, other]})),
            text("One."),
            text("Two."),
            text(dumps(judged)),
            text("Three."),
        ]
        events, _ = await ask(board, "Add.", engine="dag")

    assert text_of(events) == "Three."
    asked = [request["model"] for request in provider.requests]
    assert asked[1:3] == ["tiny-spare", "tiny-spare"]


async def test_the_fast_model_is_the_smart_one_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_MODEL", "anthropic:claude-sonnet-4-5")
    async with Pegboard() as board:
        fast = await board.models.get("fast")

        assert (fast.name, fast.context_window) == ("anthropic:claude-sonnet-4-5", 200_000)
        assert board.models.find_embedder() is None
        assert board.models.find_picture_reader() is None


async def test_a_name_alone_takes_the_provider_of_the_smart_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PEGBOARD_MODEL", "anthropic:claude-sonnet-4-5")
    monkeypatch.setenv("PEGBOARD_FAST_MODEL", "claude-haiku-4-5")
    async with Pegboard() as board:
        assert (await board.models.get("fast")).name == "anthropic:claude-haiku-4-5"


async def test_a_reload_changes_models_and_keeps_the_unchanged_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_board(tmp_path, monkeypatch) as (board, provider):
        file = tmp_path / "board.yaml"
        spare = await board.models.get("spare")
        file.write_text(file.read_text().replace("tiny-main", "tiny-new"))
        await board.reload()
        provider.answers.append(text("Hello."))
        await ask(board, "hi")

        assert provider.requests[0]["model"] == "tiny-new"
        assert await board.models.get("spare") is spare

        file.write_text(file.read_text().replace("smart: main", "smart: nobody"))
        with pytest.raises(ConfigError, match=r"board.yaml:3: models.smart: there is no model"):
            await board.reload()
        assert (await board.models.get()).name == "openai:tiny-new"


async def test_the_fast_model_chooses_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAIN_KEY", "sk-main")
    async with a_provider() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        provider.answers += [text('{"engine": "react"}'), text("Both.")]
        (tmp_path / "board.yaml").write_text(BOARD.format(url=provider.url))
        async with Pegboard(tmp_path / "board.yaml", data="memory", tools=[add]) as board:
            events, _ = await ask(board, "Which of the two numbers is greater?", engine="auto")

    assert text_of(events) == "Both."
    assert [request["model"] for request in provider.requests] == ["tiny-fast", "tiny-main"]
    assert [e.data["engine"] for e in events if e.event == "phase"] == ["react"]


async def test_a_provider_that_finds_a_request_too_long_gets_a_shorter_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @tool(effect="read")
    def fill(number: int) -> str:
        """Fill."""
        return f"{number}" * 20_000

    too_long = {"error": {"message": "x", "code": "context_length_exceeded", "type": "x"}}
    async with a_provider() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        provider.answers += [call("fill", '{"number": 1}'), call("fill", '{"number": 2}')]
        provider.answers += [(400, too_long), text("Full.")]
        async with Pegboard(tools=[fill]) as board:
            events, _ = await ask(board, "Fill it.")

    assert text_of(events) == "Full."
    sizes = [len(str(request["messages"])) for request in provider.requests]
    assert sizes[3] < sizes[2] * 0.6
    assert [e.data["layer"] for e in events if e.event == "compacted"] == ["guard", "results"]


async def test_a_model_without_function_calls_uses_tools_by_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PEGBOARD_MODEL", raising=False)
    wanted = '{"type": "tool", "tool_name": "add", "tool_args": {"a": 1, "b": 2}}'
    async with a_provider() as provider:
        (tmp_path / "board.yaml").write_text(
            "models:\n  smart: tiny\n  named:\n    tiny:\n      model: openai:tiny-1\n"
            f"      base_url: {provider.url}\n      tools: false\n      schemas: false\n"
        )
        provider.answers += [text(wanted), text('{"type": "answer", "answer": "It is 3."}')]
        async with Pegboard(tmp_path / "board.yaml", data="memory", tools=[add]) as board:
            events, _ = await ask(board, "What is 1 + 2?")

    assert text_of(events) == "It is 3."
    assert [event.data["tool"] for event in events if event.event == "tool_finished"] == ["add"]
    assert provider.requests[1]["messages"][-1]["content"] == "The tool 'add' gave:\n3"
    assert "tools" not in provider.requests[0]


async def test_a_model_without_a_key_gives_way_to_its_fallback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with a_provider() as provider:
        (tmp_path / "board.yaml").write_text(
            "models:\n  smart: main\n  named:\n"
            "    main: {model: openai:gpt-5.2, fallbacks: [local]}\n"
            f"    local: {{model: openai:tiny-1, base_url: {provider.url}}}\n"
        )
        provider.answers.append(text("Here."))
        async with Pegboard(tmp_path / "board.yaml", data="memory") as board:
            events, _ = await ask(board, "hi")

    assert text_of(events) == "Here."
