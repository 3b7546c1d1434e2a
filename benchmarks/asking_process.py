"""The processes that `asking.py` starts: one asks a board, one fills it, one is `bm25s`.

Each takes a JSON object as its argument, and its last line is a JSON object with figures.
"""

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from measure import peak_of_self_mb, resident_mb, wall_and_cpu_ms, wall_ms
from seeded_texts import SeededDocument, make_documents, make_questions, make_vectors

BASE = "board:handbook"
EMBEDDER = "openai:seeded"
CALLERS = {"1 %": ("few",), "half": ("few", "half"), "all": ("few", "half", "rest")}
"""The organisations of callers; each document is for one of them."""


def fill(task: Mapping[str, Any]) -> dict[str, Any]:
    """Put documents into a storage, past their files and conversion; gives their ids."""
    return asyncio.run(_fill(task))


async def _fill(task: Mapping[str, Any]) -> dict[str, Any]:
    from pegboard.core.ports.knowledge.document_store import StoredDocument
    from pegboard.knowledge.indexing import index_piece
    from pegboard.storage import open_storage

    began = time.monotonic()
    ids: list[str] = []
    async with open_storage(task["database"] or Path(task["data"])) as storage:
        for document in make_documents(task["pieces"]):
            text, pieces = _convert(document)
            row = StoredDocument(
                id=pieces[0].document,
                base=BASE,
                name=f"{document.number}.md",
                outer_id=f"{document.number}.md",
                owner="/local",
                audience="organisation",
                organisation=_choose_organisation(document.number),
                created_at=0.0,
                updated_at=0.0,
                state="ready",
                answers=True,
                revision=1,
                pieces=len(pieces),
            )
            vectors = make_vectors(row.id, len(pieces))
            ids.append(row.id)
            await storage.documents.add(row)
            await storage.documents.put_text(row.id, 1, text)
            await storage.knowledge_index.put(row.id, 1, [index_piece(it) for it in pieces])
            by_piece = {it.id: [vectors[at]] for at, it in enumerate(pieces)}
            await storage.knowledge_index.put_vectors(EMBEDDER, by_piece)
        await storage.knowledge_index.pack(BASE)  # as a server does in the background
    return {"seconds": time.monotonic() - began, "documents": ids}


def _convert(document: SeededDocument) -> tuple[Any, list[Any]]:
    from pegboard.core.knowledge import ConvertedDocument, Piece, TextBlock

    key, at = f"d_{document.number}", 0
    pieces: list[Any] = []
    for number, text in enumerate(document.pieces, 1):
        pieces.append(
            Piece(
                id=f"{key}_{number}",
                document=key,
                base=BASE,
                number=number,
                text=text,
                start=at,
                end=at + len(text),
            )
        )
        at += len(text) + 2
    blocks = tuple(TextBlock("paragraph", it.start, it.end) for it in pieces)
    whole = "\n\n".join(document.pieces)
    return ConvertedDocument(text=whole, media_type="text/markdown", blocks=blocks), pieces


def _choose_organisation(number: int) -> str:
    """One piece in a hundred is for the few, and about half for them and the half."""
    if number % 10 == 0:
        return "few"
    return "half" if number % 4 in {0, 1} else "rest"


def ask(task: Mapping[str, Any]) -> dict[str, Any]:
    """Ask a board: its first question, then those of each caller."""
    return asyncio.run(_ask(task))


async def _ask(task: Mapping[str, Any]) -> dict[str, Any]:
    from pydantic import SecretStr

    from pegboard import Pegboard
    from pegboard.core.context import ToolContext
    from pegboard.core.principal import Principal
    from pegboard.runtime import Settings

    questions = make_questions(task["pieces"], task["questions"])
    generated = time.monotonic()
    settings = Settings(
        data=Path(task["data"]),
        database=SecretStr(task["database"]) if task["database"] else None,
        embed_model=EMBEDDER if task["meaning"] else "",
    )
    async with Pegboard(task["board"], settings=settings) as board:
        principals = {
            name: Principal(
                id=name,
                user=f"u_{at}",
                organisations=frozenset(those),
                roles=frozenset({"few/member"}),
            )
            for at, (name, those) in enumerate(CALLERS.items())
        }

        async def call(question: str, caller: str) -> Any:
            ctx: ToolContext[Any] = ToolContext(principal=principals[caller])
            return await board.call("kb_retrieve", {"question": question}, ctx)

        opened, before = time.monotonic(), resident_mb()
        first = await call("which words begin a new block", "all")
        answered = time.monotonic()
        if first.error is not None:
            raise first.error
        (look,) = first.structured["looks"]
        stages = ["words", "meaning"] if task["meaning"] else ["words"]
        if look["pieces"] != task["pieces"] or list(look["stages"]) != stages:
            raise AssertionError(f"it answers otherwise: {look}")
        found: dict[str, Any] = {
            "cold": opened - generated + task["imported"],
            "first": answered - opened,
            "memory": resident_mb() - before,
        }
        for caller in CALLERS:
            result = await call(questions[0], caller)
            share = result.structured["looks"][0]["pieces"] / task["pieces"]
            # A question is asked in other words each time, so that no cache answers it.
            times, cpu = await wall_and_cpu_ms(
                lambda item, turn, by=caller: call(f"{item}{'?' * turn}", by),
                questions,
                rounds=task["rounds"],
            )
            found[caller] = {"share": share, "ms": times, "cpu": cpu}
        found["peak"] = peak_of_self_mb()
        return found


def ask_bm25s(task: Mapping[str, Any]) -> dict[str, Any]:
    """Search the same pieces with `bm25s`: the index alone, in memory, for one caller."""
    import bm25s
    import Stemmer

    options = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english"), "show_progress": False}
    texts = [text for document in make_documents(task["pieces"]) for text in document.pieces]
    questions = make_questions(task["pieces"], task["questions"])
    before, began = resident_mb(), time.monotonic()
    retriever = bm25s.BM25(k1=1.2, b=0.75)
    retriever.index(bm25s.tokenize(texts, **options), show_progress=False)
    built, grown = time.monotonic() - began, resident_mb() - before

    async def search(question: str, _turn: int) -> object:
        return retriever.retrieve(bm25s.tokenize([question], **options), k=100, show_progress=False)

    times = asyncio.run(wall_ms(search, questions, rounds=task["rounds"]))
    return {"first": built, "memory": grown, "ms": times}


if __name__ == "__main__":
    began = time.monotonic()
    if sys.argv[1] == "ask":
        import pegboard.runtime  # noqa: F401 - its time is part of a cold start
    task = {**json.loads(sys.argv[2]), "imported": time.monotonic() - began}
    print(json.dumps({"fill": fill, "ask": ask, "bm25s": ask_bm25s}[sys.argv[1]](task)))
