"""Which tools are found for a question: on labelled sets, and what it costs at 10,000 tools.

The sets are not part of the repository: `TOOL_SELECTION_DATA` names a folder with files
`NAME.tools.jsonl` (`id, name, description, schema | params, category`) and `NAME.queries.jsonl`
(`q, gold`), one JSON object a line.
"""

import asyncio
import json
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import minilm
import retrieval
from measure import async_cpu_ms_at, cpu_ms_at, cpu_s, grown_mb
from searching import catalogue
from table import number, reach, section, table

VARIABLE = "TOOL_SELECTION_DATA"
SHOWN = 6
"""How many tools a model is shown."""
MANY = 10_000
GOALS = {"seal-dev": (0.95, 0.88), "stabletoolbench-g1": (0.77, 0.58)}
"""recall@6 and complete@6."""

Find = Callable[[str], Sequence[str]]
"""Finds the ids of the best tools for a question."""


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A labelled set: tools, and questions with the ids of the tools that they need."""

    name: str
    tools: Sequence[Mapping[str, Any]]
    questions: Sequence[tuple[str, frozenset[str]]]


def quality_of_selection() -> str:
    """Ours beside BM25 of `bm25s`, and embeddings of MiniLM where its weights are installed."""
    sets = read_sets()
    if not sets:
        return section("Selecting tools", f"Not measured: `{VARIABLE}` names no labelled sets.")
    if minilm.is_installed():
        retrieval.embed([text for item in sets for text in _list_asked(item)])
    parts: list[str] = []
    for item in sets:
        rows = [_judge(name, make(item.tools), item) for name, make in MAKERS.items()]
        head = ["", "recall@6", "complete@6", "hit@1", "CPU p95, ms"]
        parts += [
            f"`{item.name}`: {len(item.tools):,} tools, {len(item.questions)} questions.",
            table(head, [row for row, _ in rows]),
            _goals(item.name, [score for _, score in rows]),
        ]
    return section("Selecting tools", *parts, "At 10,000 tools:", *_costs(sets))


def read_sets() -> list[Labelled]:
    """The labelled sets that there are; none where the variable names no folder."""
    folder = os.environ.get(VARIABLE, "")
    return [
        Labelled(
            name=path.name.removesuffix(".tools.jsonl"),
            tools=_lines(path),
            questions=[
                (item["q"], frozenset(item["gold"]))
                for item in _lines(path.with_name(path.name.replace(".tools.", ".queries.")))
            ],
        )
        for path in (sorted(Path(folder).glob("*.tools.jsonl")) if folder else ())
    ]


def make_ours(tools: Sequence[Mapping[str, Any]]) -> Find:
    """`ToolRegistry.search`."""
    return find_in(make_registry(tools))


def make_ours_with_minilm(tools: Sequence[Mapping[str, Any]]) -> Find:
    """The same with the vectors of MiniLM, which are made before."""
    run = asyncio.Runner().run
    find = run(find_by_meaning(make_registry(tools)))
    return lambda question: run(find(question))


def find_in(registry: Any) -> Find:
    """The search of a registry, with its index built."""
    from pegboard.registry.search import ToolQuery

    registry.search("anything")

    def find(question: str) -> list[str]:
        found = registry.search(ToolQuery(query=question, limit=SHOWN))
        return [tool.spec.id for tool in found]

    return find


async def find_by_meaning(registry: Any) -> Callable[[str], Awaitable[Sequence[str]]]:
    """The search of a registry by words and meaning, whose questions are embedded once."""
    from pegboard.knowledge.question_cache import QuestionCache
    from pegboard.registry.search import ToolQuery
    from pegboard.registry.tool_meanings import ToolMeanings

    registry.search("anything")
    embedder, cache = retrieval.MiniLMEmbedder(), QuestionCache(most=100_000)
    known: set[tuple[str, ...]] = set()

    async def embed(model: Any, texts: Sequence[str], owner: str) -> Any:
        if tuple(texts) not in known:
            retrieval.embed(texts)  # no deadline for the first time
            known.add(tuple(texts))
        vectors, _ = await cache.embed_all(model, texts, owner=owner)
        return vectors

    registry.meanings = ToolMeanings(lambda: registry, lambda: embedder, embed)
    await registry.meanings.refresh()

    async def find(question: str) -> list[str]:
        prepared = await registry.prepare_search(question)
        if prepared.skipped:
            raise RuntimeError("the question was not embedded")
        query = ToolQuery(query=question, limit=SHOWN)
        return [tool.spec.id for tool in registry.search(query, prepared=prepared)]

    return find


def make_registry(tools: Sequence[Mapping[str, Any]]) -> Any:
    """A registry with these tools; a set's own id is the id of the tool."""
    from pegboard import SchemaTool, ToolRegistry, ToolSpec

    async def run(_arguments: object, _ctx: object) -> None:
        return None

    registry = ToolRegistry()
    for item in tools:
        name = re.sub(r"[^a-zA-Z0-9_-]+", "_", item["name"])[:64]
        spec = ToolSpec(
            name=name if name not in registry else f"{name[:56]}_{len(registry)}",
            id=item["id"],
            description=item["description"] or "",
            category=item.get("category") or "general",
            input_schema={
                "type": "object",
                "properties": {key: {"description": text} for key, text in _parameters(item)},
            },
        )
        registry.add(SchemaTool(spec=spec, run=run))
    return registry


def make_bm25s(tools: Sequence[Mapping[str, Any]]) -> Find:
    """BM25 over the same texts: identifiers split, English stop words and stems, as it comes."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    texts = [_split(_text(item)) for item in tools]
    retriever = bm25s.BM25()
    corpus = bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
    retriever.index(corpus, show_progress=False)
    ids = [item["id"] for item in tools]

    def find(question: str) -> list[str]:
        tokens = bm25s.tokenize(
            [_split(question)], stopwords="en", stemmer=stemmer, show_progress=False
        )
        found, _ = retriever.retrieve(tokens, k=SHOWN, show_progress=False)
        return [ids[number] for number in found[0]]

    return find


def make_minilm(tools: Sequence[Mapping[str, Any]]) -> Find:
    """The nearest embeddings of MiniLM, over name, description and parameters as they stand."""
    import numpy as np

    vectors = retrieval.embed([_text(item) for item in tools])
    ids = [item["id"] for item in tools]

    def find(question: str) -> list[str]:
        likeness = vectors @ retrieval.embed([question])[0]
        return [ids[number] for number in np.argsort(-likeness)[:SHOWN]]

    return find


MAKERS: Mapping[str, Callable[[Sequence[Mapping[str, Any]]], Find]] = {
    "Pegboard": make_ours,
    **({"Pegboard, with MiniLM": make_ours_with_minilm} if minilm.is_installed() else {}),
    "`bm25s`": make_bm25s,
    **({"MiniLM-L6, on numpy": make_minilm} if minilm.is_installed() else {}),
}


def _judge(name: str, find: Find, item: Labelled) -> tuple[list[str], tuple[float, float]]:
    recall = complete = first = 0.0
    for question, gold in item.questions:
        found = find(question)
        hits = len(gold & set(found[:SHOWN]))
        recall += hits / len(gold)
        complete += hits == len(gold)
        first += bool(found) and found[0] in gold
    count = len(item.questions)
    slow = cpu_ms_at(find, [question for question, _ in item.questions], percent=95)
    figures = [recall / count, complete / count, first / count]
    row = [name, *(f"{figure:.3f}" for figure in figures), number(slow)]
    return row, (figures[0], figures[1])


def _list_asked(item: Labelled) -> Iterator[str]:
    """The questions of a set, and each thing that they ask for."""
    from pegboard.registry.search_text import split_intents

    for question, _ in item.questions:
        yield question
        yield from (intent.text for intent in split_intents(question))


def _goals(name: str, scores: Sequence[tuple[float, float]]) -> str:
    (recall, complete), (theirs, _), *_ = scores
    recall_goal, complete_goal = GOALS.get(name, (0.0, 0.0))
    return "\n".join(
        [
            reach("recall@6", recall, max(recall_goal, theirs + 0.05)),
            reach("complete@6", complete, complete_goal),
        ]
    )


def _costs(sets: Sequence[Labelled]) -> list[str]:
    """What 10,000 tools cost: those of the sets, filled up with made ones."""
    known = [item for labelled in sets for item in labelled.tools]
    made = ({"id": name, "name": name, "description": text} for name, text in catalogue())
    tools = [*known, *islice(made, MANY)][:MANY]
    questions = [question for labelled in sets for question, _ in labelled.questions]
    long = [" ".join(three) for three in zip(*(questions[n::3] for n in range(3)), strict=False)]
    registry = make_registry(tools)
    for tool in registry:
        _ = tool.spec.input_schema  # what a board has anyway is not the cost of the search
    build: list[float] = []
    memory = grown_mb(lambda: build.append(cpu_s(lambda: registry.search("anything"))))
    find = find_in(registry)
    update = cpu_ms_at(_updater(registry), range(300), percent=95)
    rows = [
        ["a question, p95, ms", cpu_ms_at(find, questions, percent=95), 5.0],
        ["three questions in one, p95, ms", cpu_ms_at(find, long, percent=95), 5.0],
        ["a changed tool and the next search, p95, ms", update, 5.0],
        ["building the index, s", build[0], 3.0],
        ["memory of the index, MB", memory, 150.0],
    ]
    if minilm.is_installed():
        slow = asyncio.run(_cost_of_meaning(tools, questions))
        rows.insert(1, ["the same with MiniLM, vectors known, p95, ms", slow, 5.0])
    cells = [[str(what), number(float(value)), number(float(most))] for what, value, most in rows]
    return [table(["Pegboard", "CPU", "goal"], cells), _cost_of_bm25s(tools)]


async def _cost_of_meaning(tools: Sequence[Mapping[str, Any]], questions: Sequence[str]) -> float:
    find = await find_by_meaning(make_registry(tools))
    return await async_cpu_ms_at(find, questions, percent=95)


def _cost_of_bm25s(tools: Sequence[Mapping[str, Any]]) -> str:
    seconds = cpu_s(lambda: make_bm25s(tools))
    return f"`bm25s` makes its index anew for a changed tool: {number(seconds)} s of CPU."


def _updater(registry: Any) -> Callable[[int], object]:
    from pegboard import SchemaTool

    tools = list(registry)

    def update(number_: int) -> object:
        tool = tools[number_ * 31 % len(tools)]
        spec = tool.spec.replace(description=f"{tool.spec.description} changed{number_ % 7}")
        registry.add(SchemaTool(spec=spec, run=tool.run), replace=True)
        return registry.search(f"changed{number_ % 7}")

    return update


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _parameters(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and descriptions, as the sets have them: a mapping, or `name: text; name: text`."""
    schema: Mapping[str, Any] = item.get("schema") or {}
    if schema:
        return [(name, str(given.get("description", ""))) for name, given in schema.items()]
    parts = (part.partition(":") for part in item.get("params", "").split("; "))
    return [(name.strip(), text.strip()) for name, _, text in parts if name.strip()]


def _text(item: Mapping[str, Any]) -> str:
    parameters = " ".join(f"{name} {text}" for name, text in _parameters(item))
    return f"{item['name']} {item['description']} {item.get('category', '')} {parameters}"


def _split(text: str) -> str:
    """The words of identifiers, apart from each other."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_/.-]+", " ", text)
