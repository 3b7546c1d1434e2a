"""Which passages are found for a question: on labelled sets, by words and with MiniLM.

The sets are not part of the repository: `RETRIEVAL_DATA` names a folder with files
`NAME.docs.jsonl` (`id, title, text`) and `NAME.queries.jsonl` (`q, gold`), one JSON object a line.
An id up to its last `#` or `:` is that of its document. Vectors are cached in `build/`, since
MiniLM takes minutes for a set.
"""

import asyncio
import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import minilm
from table import reach, section, table

VARIABLE = "RETRIEVAL_DATA"
GOALS = {"cookbook-docs": (0.80, 0.84), "cookbook-code": (0.73, 0.75)}
"""nDCG@10 by words, and with MiniLM."""
CACHE = Path(__file__).parents[1] / "build" / "minilm-vectors.npz"
_FEW = 32
"""New vectors for which the cache is not written again."""

Find = Callable[[str], Sequence[str]]
"""Finds the ids of the best passages for a question."""


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A labelled set: passages, and questions with the ids of those that answer."""

    name: str
    passages: Sequence[Mapping[str, str]]
    questions: Sequence[tuple[str, frozenset[str]]]


def quality_of_retrieval() -> str:
    """Ours beside BM25 of `bm25s`, and MiniLM where its weights are installed."""
    sets = read_sets()
    if not sets:
        return section("Retrieving passages", f"Not measured: `{VARIABLE}` names no labelled sets.")
    parts: list[str] = []
    for item in sets:
        scores = {name: judge(make(item.passages), item) for name, make in MAKERS.items()}
        rows = [[name, *(f"{figure:.3f}" for figure in row)] for name, row in scores.items()]
        parts += [
            f"`{item.name}`: {len(item.passages):,} passages, {len(item.questions)} questions.",
            table(["", "recall@5", "MRR@10", "nDCG@10"], rows),
            _goals(item.name, scores),
        ]
    return section("Retrieving passages", *parts)


def read_sets() -> list[Labelled]:
    """The labelled sets that there are; none where the variable names no folder."""
    folder = os.environ.get(VARIABLE, "")
    return [
        Labelled(
            name=path.name.removesuffix(".docs.jsonl"),
            passages=_lines(path),
            questions=[
                (item["q"], frozenset(item["gold"]))
                for item in _lines(path.with_name(path.name.replace(".docs.", ".queries.")))
            ],
        )
        for path in (sorted(Path(folder).glob("*.docs.jsonl")) if folder else ())
    ]


def judge(find: Find, item: Labelled) -> tuple[float, float, float]:
    """recall@5, MRR@10 and nDCG@10."""
    recall = first = gain = 0.0
    for question, gold in item.questions:
        found = find(question)[:10]
        recall += len(gold & set(found[:5])) / len(gold)
        hits = [rank for rank, key in enumerate(found, 1) if key in gold]
        first += 1 / hits[0] if hits else 0.0
        best = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(gold)) + 1))
        gain += sum(1 / math.log2(rank + 1) for rank in hits) / best
    count = len(item.questions)
    return recall / count, first / count, gain / count


def make_ours(passages: Sequence[Mapping[str, str]]) -> Find:
    """A base that is searched by words."""
    return _make_retriever(passages, None)


def make_ours_with_minilm(passages: Sequence[Mapping[str, str]]) -> Find:
    """The same with an embedder."""
    return _make_retriever(passages, MiniLMEmbedder())


def make_bm25s(passages: Sequence[Mapping[str, str]]) -> Find:
    """BM25 over the same texts: identifiers split, English stop words and stems."""
    import bm25s
    import Stemmer

    options = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english"), "show_progress": False}
    retriever = bm25s.BM25(k1=1.2, b=0.75)
    corpus = bm25s.tokenize([_split(item["text"]) for item in passages], **options)
    retriever.index(corpus, show_progress=False)
    ids = [item["id"] for item in passages]

    def find(question: str) -> list[str]:
        tokens = bm25s.tokenize([_split(question)], **options)
        found, _ = retriever.retrieve(tokens, k=10, show_progress=False)
        return [ids[number] for number in found[0]]

    return find


def make_minilm(passages: Sequence[Mapping[str, str]]) -> Find:
    """The nearest embeddings of MiniLM, over the texts as they stand."""
    import numpy as np

    vectors = embed([item["text"] for item in passages])
    ids = [item["id"] for item in passages]

    def find(question: str) -> list[str]:
        likeness = vectors @ embed([question])[0]
        return [ids[number] for number in np.argsort(-likeness, kind="stable")[:10]]

    return find


MAKERS: Mapping[str, Callable[[Sequence[Mapping[str, str]]], Find]] = {
    "Pegboard, by words": make_ours,
    **({"Pegboard, with MiniLM": make_ours_with_minilm} if minilm.is_installed() else {}),
    "`bm25s`": make_bm25s,
    **({"MiniLM-L6, on numpy": make_minilm} if minilm.is_installed() else {}),
}


class MiniLMEmbedder:
    """An `Embedder` on numpy."""

    name = "numpy:minilm"

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """One vector for each text."""
        return embed(texts).tolist()


def embed(texts: Sequence[str]) -> Any:
    """The vectors of texts, from the cache as far as they are there."""
    import numpy as np

    if not _VECTORS and CACHE.exists():
        with np.load(CACHE) as stored:
            _VECTORS.update(zip(stored["keys"].tolist(), stored["rows"], strict=True))
    keys = [sha256(text.encode()).hexdigest() for text in texts]
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in _VECTORS}
    if missing:
        rows = minilm.load().embed(list(missing.values()))
        _VECTORS.update(zip(missing, rows, strict=True))
    if len(missing) > _FEW:
        CACHE.parent.mkdir(exist_ok=True)
        np.savez(CACHE, keys=list(_VECTORS), rows=np.stack(list(_VECTORS.values())))
    return np.stack([_VECTORS[key] for key in keys])


_VECTORS: dict[str, Any] = {}


def _make_retriever(passages: Sequence[Mapping[str, str]], embedder: Any) -> Find:
    from pegboard.core.ports.knowledge.document_store import DocumentScope
    from pegboard.core.principal import LOCAL
    from pegboard.knowledge.retrieve import Retriever, SearchedBase
    from pegboard.storage import open_storage

    storage = open_storage(tempfile.mkdtemp(prefix="pegboard-retrieval-"))
    run = asyncio.Runner().run
    run(fill(storage, passages, embedder))
    retriever = Retriever(storage.documents, storage.knowledge_index)
    bases = [SearchedBase(id="base", name="base", embedder=embedder)]
    scope = DocumentScope(bases=(), principal=LOCAL)

    def find(question: str) -> list[str]:
        found = run(retriever.retrieve(question, bases, scope, limit=10))
        return [hit.piece.id for hit in found.hits]

    return find


async def fill(storage: Any, passages: Sequence[Mapping[str, str]], embedder: Any) -> None:
    """Store labelled passages as documents of a base `base`."""
    from pegboard.core.knowledge import Piece
    from pegboard.core.ports.knowledge.document_store import StoredDocument
    from pegboard.knowledge.indexing import embed_pieces, index_piece

    documents: dict[str, list[Mapping[str, str]]] = {}
    for item in passages:
        documents.setdefault(name_document(item["id"]), []).append(item)
    for key, items in documents.items():
        document = StoredDocument(
            id=key,
            base="base",
            name=key,
            outer_id=key,
            owner="/local",
            created_at=0.0,
            updated_at=0.0,
            state="ready",
            answers=True,
            revision=1,
            pieces=len(items),
        )
        pieces = [
            Piece(
                id=item["id"],
                document=key,
                base="base",
                number=number,
                text=item["text"],
                start=0,
                end=len(item["text"]),
            )
            for number, item in enumerate(items, 1)
        ]
        await storage.documents.add(document)
        titles = [item["title"] for item in items]
        ready = [index_piece(it, title=title) for it, title in zip(pieces, titles, strict=True)]
        await storage.knowledge_index.put(key, 1, ready)
        if embedder is not None:
            vectors = await embed_pieces(pieces, embedder)
            await storage.knowledge_index.put_vectors(embedder.name, vectors)


def name_document(passage: str) -> str:
    """The id of the document of a labelled passage."""
    return re.split(r"[#:](?=[^#:]*$)", passage)[0]


def _goals(name: str, scores: Mapping[str, tuple[float, float, float]]) -> str:
    found = {key: row[2] for key, row in scores.items()}
    by_words, with_model = GOALS.get(name, (0.0, 0.0))
    lines = [
        reach("nDCG@10 by words", found["Pegboard, by words"], max(by_words, found["`bm25s`"]))
    ]
    fused = found.get("Pegboard, with MiniLM")
    if fused is not None:
        better = max(found["Pegboard, by words"], found["MiniLM-L6, on numpy"])
        lines.append(reach("nDCG@10 with MiniLM", fused, max(with_model, better)))
    return "\n".join(lines)


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _split(text: str) -> str:
    """The words of identifiers, apart from each other."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_/.-]+", " ", text)
