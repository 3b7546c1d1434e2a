"""A board whose knowledge bases have a reranker."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.models.made import Provider, a_provider

from pegboard import Pegboard
from pegboard.core.principal import LOCAL
from pegboard.features.knowledge import NewBase, NewDocument

BOARD = """
models:
  rerank: order
  named:
    order: {{model: openai:tiny-order, base_url: "{url}", api_key: sk-order, price: {{input: 50}}}}
"""
TEXTS = {
    "long.md": "Leave, leave, leave: paid leave is paid. Nothing else stands here on leave.",
    "short.md": "How many days of paid leave an employee has: thirty.",
}
QUESTION = {"question": "How many days of paid leave has an employee?"}


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


@asynccontextmanager
async def a_board(folder: Path) -> AsyncGenerator[tuple[Pegboard, Provider]]:
    """A board with two documents, and the server of its reranker."""
    async with a_provider() as provider:
        (folder / "board.yaml").write_text(BOARD.format(url=provider.url))
        async with Pegboard(folder / "board.yaml", data="memory") as board:
            documents = board.knowledge.documents
            base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
            for name, text in TEXTS.items():
                new = NewDocument(name=name, chunks=_once(text))
                row, _ = await documents.add(base, new, principal=LOCAL)
                while row.state != "ready":
                    await asyncio.sleep(0.02)
                    row = await documents.get(base, row.id, principal=LOCAL)
            yield board, provider


async def ask(board: Pegboard, tool: str = "grounded_retrieve") -> Any:
    return await board.call(tool, QUESTION)


async def test_what_was_found_is_in_the_order_of_the_reranker(tmp_path: Path) -> None:
    async with a_board(tmp_path) as (board, provider):
        found = await ask(board, "kb_retrieve")

    assert provider.requests[0]["query"] == QUESTION["question"]
    assert provider.requests[0]["model"] == "tiny-order"
    assert provider.headers[0]["authorization"] == "Bearer sk-order"
    assert sorted(provider.requests[0]["documents"]) == sorted(TEXTS.values())
    assert found.structured["looks"][0]["stages"] == ["words", "rerank"]
    assert found.structured["citations"][0]["quote"] == TEXTS["short.md"]
    assert (found.meta.tokens, found.meta.model) == (11, "openai:tiny-order")
    assert found.meta.cost == pytest.approx(11 * 50 / 1_000_000)


async def test_confidence_is_the_same_where_the_reranker_fails_and_the_answer_says_so(
    tmp_path: Path,
) -> None:
    async with a_board(tmp_path) as (board, provider):
        provider.answers.append((503, {}))
        without = await ask(board)
        found = await ask(board)

    assert "The reranker failed" in without.text
    assert "The reranker failed" not in found.text
    looks = [it.structured["looks"][0] for it in (without, found)]
    assert [(look["stages"], look["skipped"]) for look in looks] == [
        (["words"], ["rerank"]),
        (["words", "rerank"], []),
    ]
    assert without.structured["confidence"] == found.structured["confidence"]
    assert without.meta.tokens is None
