"""Search for tools by meaning: one index for all doors, and by words where the model fails."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.assembly.made import NAMES, many_tools
from tests.features.conversations.made import ask
from tests.models.made import Provider, a_provider
from tests.servers.http.made import client_of

from pegboard.cli.client.local import LocalBoard
from pegboard.core.model_messages import ToolMessage
from pegboard.errors import ConfigError
from pegboard.registry.prepared_search import BY_WORDS_ONLY
from pegboard.registry.search import ToolQuery
from pegboard.runtime import Pegboard
from pegboard.runtime.settings import Settings
from pegboard.testing import ScriptedModel, Turn

BOARD = """
sources: []
search_by_meaning: {wanted}
models: {{embed: vectors, named: {{vectors: {{model: openai:v, base_url: "{url}", retries: 0}}}}}}
"""
REFUSED = (400, {"error": {"message": "too long"}})


@asynccontextmanager
async def a_board(
    folder: Path, *turns: Any, wanted: str = "true", **settings: Any
) -> AsyncGenerator[tuple[Pegboard, Provider, ScriptedModel]]:
    model = ScriptedModel(*turns)
    file = folder / "board.yaml"
    async with a_provider() as provider:
        file.write_text(BOARD.format(wanted=wanted, url=provider.url))
        async with Pegboard(
            file, model=model, tools=list(many_tools()), settings=Settings(**settings)
        ) as board:
            if board.registry.meanings is not None:
                await board.registry.meanings.refresh()
                provider.requests.clear()
            yield board, provider, model


async def test_a_question_is_embedded_once_for_each_caller_and_door(tmp_path: Path) -> None:
    async with a_board(tmp_path) as (board, provider, _), client_of(board) as client:
        first = await client.post("/tools/search", json={"query": "create an invoice"})
        again = await client.get("/tools", params={"q": "create an invoice", "limit": 20})
        local = await LocalBoard(board).find_tools(ToolQuery(query="create an invoice"))

    assert [asked["input"] for asked in provider.requests] == [["create an invoice"]]
    assert first.json()["tools"][0]["name"] == "invoice__create"
    assert first.json()["tools"] == again.json()["tools"]
    assert [spec["name"] for spec in local.usable] == [it["name"] for it in first.json()["tools"]]
    assert "skipped" not in first.json()


async def test_each_door_says_that_a_search_was_by_words_only(tmp_path: Path) -> None:
    turns = [Turn(calls=(("find_tools", {"query": "delete a poem"}),)), Turn(text="Done.")]
    async with a_board(tmp_path, *turns) as (board, provider, model), client_of(board) as client:
        provider.answers += [REFUSED] * 4
        answer = await client.post("/tools/search", json={"query": "create an invoice"})
        local = await LocalBoard(board).find_tools(ToolQuery(query="create an invoice"))
        events, _ = await ask(board, "Book a hotel.")
        found = model.requests[-1].messages[-1]

    assert answer.json()["skipped"] == [*local.skipped] == ["meaning"]
    assert answer.json()["tools"][0]["name"] == "invoice__create"
    [missing] = [event.data["missing"] for event in events if event.event == "tools_missing"]
    assert missing == {"search": BY_WORDS_ONLY}
    assert isinstance(found, ToolMessage)
    assert "poem__delete" in found.text
    assert BY_WORDS_ONLY in found.text


async def test_few_tools_are_listed_without_a_search(tmp_path: Path) -> None:
    done = Turn(text="Done.")
    async with a_board(tmp_path, done, max_listed_tools=128) as (board, provider, _):
        await ask(board, "Book a hotel.")

    assert provider.requests == []


async def test_a_reload_turns_it_on_and_off(tmp_path: Path) -> None:
    async with a_board(tmp_path, wanted="false") as (board, provider, _):
        has_meanings = [board.registry.meanings is not None]
        for wanted in ("true", "false"):
            (tmp_path / "board.yaml").write_text(BOARD.format(wanted=wanted, url=provider.url))
            await board.reload()
            has_meanings.append(board.registry.meanings is not None)

    assert has_meanings == [False, True, False]


@pytest.mark.parametrize(
    ("wanted", "setting", "expected"),
    [("false", True, True), ("true", False, False), ("true", None, True), ("false", None, False)],
)
async def test_the_setting_prevails_over_the_board_file(
    wanted: str, setting: bool | None, expected: bool, tmp_path: Path
) -> None:
    async with a_board(tmp_path, wanted=wanted, search_by_meaning=setting) as (board, _, _):
        assert (board.registry.meanings is not None) is expected


async def test_without_an_embedding_model_search_is_by_words(tmp_path: Path) -> None:
    async with Pegboard(
        tools=list(many_tools()), data="memory", settings=Settings(search_by_meaning=True)
    ) as board:
        prepared = await board.registry.prepare_search("create an invoice")

        assert board.registry.meanings is None
        assert prepared.skipped == ()
        assert board.registry.search("create an invoice")[0].spec.name in NAMES


async def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard.runtime.wiring.tool_meanings.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"pip install 'pegboard\[knowledge\]'"):
        async with a_board(tmp_path):
            pass


async def test_a_second_start_embeds_no_tool_again(tmp_path: Path) -> None:
    embedded: list[int] = []
    async with a_provider() as provider:
        (tmp_path / "board.yaml").write_text(BOARD.format(wanted="true", url=provider.url))
        for _ in range(2):
            tools = list(many_tools())
            async with Pegboard(tmp_path / "board.yaml", data=tmp_path, tools=tools) as board:
                assert board.registry.meanings is not None
                await board.registry.meanings.refresh()
            embedded.append(sum(len(asked["input"]) for asked in provider.requests))
            provider.requests.clear()

    assert embedded[0] >= len(NAMES)
    assert embedded[1] <= 2  # each reading compares one text, and there may be two of them
