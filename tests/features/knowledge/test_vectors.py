"""Pieces are embedded once, and found by what they mean."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import LOCAL, Principal
from pegboard.features.knowledge import DocumentQuery, NewBase, NewDocument
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.features.knowledge.vectors import vectors_graph
from pegboard.runtime.wiring.models import BoardModels

DOGS = "# Animals\n\nThe hound sleeps in the kennel."
MONEY = "# Wages\n\nSalaries arrive on the first of the month."
LONG = (
    "It lies down after a long walk in the rain, and it does not get up before the sun does. " * 2
)
QUESTION = "Where does my dog rest?"
_MATTERS = ({"hound", "dog", "kennel"}, {"salaries", "money", "wages"})


class ConceptEmbedder:
    """Knows which words speak of the same matter, and notes what it has embedded."""

    def __init__(self, name: str, *, fields: int = 3) -> None:
        self.name = name
        self.texts: list[str] = []
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()
        self._fields = fields

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        await self.may_go_on.wait()
        self.texts += texts
        return [self._place(text) for text in texts]

    def _place(self, text: str) -> list[float]:
        words = {word.strip(".?#").casefold() for word in text.split()}
        place = [float(len(words & matter)) for matter in _MATTERS] + [0.01] * self._fields
        return place[: self._fields]


class EmbeddingChoice:
    """Stands for what the operator has configured."""

    def __init__(self) -> None:
        self.model: ConceptEmbedder | None = None
        self.before: dict[str, ConceptEmbedder] = {}

    def find(self, name: str) -> ConceptEmbedder | None:
        return self.before.get(name) if name else self.model


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> EmbeddingChoice:
    choice = EmbeddingChoice()
    monkeypatch.setattr(BoardModels, "find_embedder", lambda _self, name="": choice.find(name))
    return choice


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def put_in(board: Pegboard, base: KnowledgeBase, name: str, text: str) -> None:
    """Put a version of a document in, and wait until it answers."""
    new = NewDocument(name=name, chunks=_once(text))
    await board.knowledge.documents.add(base, new, principal=LOCAL)
    for row in await settle(board, base):
        assert row.state == "ready", row.reason


async def settle(board: Pegboard, base: KnowledgeBase) -> Sequence[StoredDocument]:
    """The documents, once nothing is under way."""
    while True:
        rows, _ = await board.knowledge.documents.list_page(base, DocumentQuery(), principal=LOCAL)
        if all(row.state in {"ready", "held", "failed"} for row in rows):
            return rows
        await asyncio.sleep(0.02)


async def ask(board: Pegboard, base: KnowledgeBase) -> list[tuple[str, list[str]]]:
    """What is found, with the stages that found it."""
    found = await board.knowledge.ask(base, QUESTION, mode="simple", principal=LOCAL)
    return [(hit.piece.text, sorted(hit.stages)) for hit in found.evidence.retrieval.hits]


async def test_a_question_finds_a_text_with_which_it_shares_no_word(
    tmp_path: Path, chosen: EmbeddingChoice
) -> None:
    chosen.model = ConceptEmbedder("test:first")
    async with Pegboard(data=tmp_path) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await put_in(board, base, "dogs.md", DOGS)
        await put_in(board, base, "money.md", MONEY)

        found = await ask(board, base)

        assert "hound" in found[0][0]
        assert found[0][1] == ["meaning"]
        (view,) = await board.knowledge.view_bases([base], principal=LOCAL)
        assert view["stages"] == ["words", "meaning"]
        assert view["reembedding"] is None


async def test_only_what_has_changed_is_embedded_again(
    tmp_path: Path, chosen: EmbeddingChoice
) -> None:
    chosen.model = ConceptEmbedder("test:first")
    async with Pegboard(data=tmp_path) as board:
        new = NewBase(name="handbook", settings={"tokens": 40})
        base = await board.knowledge.add_base(new, principal=LOCAL)
        await put_in(board, base, "all.md", f"{DOGS} {LONG}\n\n{MONEY}")
        assert len(chosen.model.texts) > 1
        chosen.model.texts.clear()

        await put_in(board, base, "all.md", f"{DOGS} {LONG}\n\n{MONEY.replace('first', 'last')}")

        assert len(chosen.model.texts) == 1
        assert "last of the month" in chosen.model.texts[0]
        assert (await ask(board, base))[0][1] == ["meaning"]


async def wait_until_embedded(board: Pegboard, base: KnowledgeBase) -> dict[str, Any]:
    """What is shown of a base once all of it has vectors of its model."""
    while True:
        (view,) = await board.knowledge.view_bases([base], principal=LOCAL)
        if view["reembedding"] is None:
            return view
        await asyncio.sleep(0.02)


async def test_the_old_model_answers_until_the_new_one_has_embedded_all(
    tmp_path: Path, chosen: EmbeddingChoice
) -> None:
    old, new = ConceptEmbedder("test:old"), ConceptEmbedder("test:new", fields=5)
    chosen.model = old
    async with Pegboard(data=tmp_path) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await put_in(board, base, "dogs.md", DOGS)
        chosen.model, chosen.before = new, {"test:old": old}
        new.may_go_on.clear()

        (view,) = await board.knowledge.view_bases([base], principal=LOCAL)

        assert view["embedder"] == "test:old"
        assert view["stages"] == ["words", "meaning"]
        assert view["reembedding"] == {"embedder": "test:new", "done": 0, "total": 1}
        assert (await ask(board, base))[0][1] == ["meaning"]
        assert old.texts[-1] == QUESTION
        new.may_go_on.set()
        view = await wait_until_embedded(board, base)
        assert view["embedder"] == "test:new"
        assert (await ask(board, base))[0][1] == ["meaning"]
        assert new.texts[-1] == QUESTION


async def test_a_base_without_vectors_gets_them_and_works_by_words_until_then(
    tmp_path: Path, chosen: EmbeddingChoice
) -> None:
    async with Pegboard(data=tmp_path) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await put_in(board, base, "dogs.md", DOGS)
        assert await ask(board, base) == []
        chosen.model = ConceptEmbedder("test:new")
        chosen.model.may_go_on.clear()
    async with Pegboard(data=tmp_path) as board:
        (base,) = board.knowledge.bases.list_visible(LOCAL)
        assert await ask(board, base) == []
        (view,) = await board.knowledge.view_bases([base], principal=LOCAL)
        assert view["stages"] == ["words"]

        chosen.model.may_go_on.set()
        await wait_until_embedded(board, base)

        assert (await ask(board, base))[0][1] == ["meaning"]


@pytest.mark.slow
async def test_a_killed_run_leaves_only_what_is_missing_to_the_next_start(
    tmp_path: Path, chosen: EmbeddingChoice
) -> None:
    chosen.model = ConceptEmbedder("test:old")
    async with Pegboard(data=tmp_path) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await put_in(board, base, "dogs.md", DOGS)
        chosen.model = ConceptEmbedder("test:new")
        chosen.model.may_go_on.clear()
        await ask(board, base)
    chosen.model.may_go_on.set()
    async with Pegboard(data=tmp_path) as board:
        await board.resume_interrupted()
        (base,) = board.knowledge.bases.list_visible(LOCAL)

        assert (await wait_until_embedded(board, base))["embedder"] == "test:new"
        assert len(chosen.model.texts) == 1


async def test_a_graph_of_a_stranger_embeds_nothing_of_a_base(
    tmp_path: Path, chosen: EmbeddingChoice
) -> None:
    async with Pegboard(data=tmp_path) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await put_in(board, base, "dogs.md", DOGS)
        chosen.model = ConceptEmbedder("test:new")
        eve = Principal(id="eve")

        graph = vectors_graph(base.id, "test:new")
        started = await board.runs.start_graph(graph, principal=eve)
        while True:
            view = await board.runs.get(started.id, principal=eve)
            if view.run.finished_at is not None:
                break
            await asyncio.sleep(0.02)

        assert view.result is not None
        assert (view.result.error or {})["code"] == "resource_not_found"
        assert chosen.model.texts == []
