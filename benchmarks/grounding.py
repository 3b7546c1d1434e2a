"""Quotes, conflicts and "not enough evidence": on labelled passages, and on facts that are altered.

The sets are not part of the repository. `GROUNDING_DATA` names a folder with `NAME.docs.jsonl`
(`id, title, text`) and `NAME.cases.jsonl` (`kind, q, docs, conflicts, enough`); `RETRIEVAL_DATA`
one with `NAME.docs.jsonl` and `NAME.queries.jsonl` (`q, gold`). No model is asked: these are the
rules. `python benchmarks/grounding.py` measures this alone, without peers.
"""

import asyncio
import json
import math
import os
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from measure import cpu_ms_at
from retrieval import fill, name_document
from table import number, reach, section, table

GROUNDING = "GROUNDING_DATA"
RETRIEVAL = "RETRIEVAL_DATA"
PROSE = "docs"
"""What stands in the name of a set whose passages are prose."""
SEED = 20261124
SCORE = 0.8
"""What each passage is found with, so that grounding alone is measured."""
_FIGURE = re.compile(r"(?<![\w.$/-])\d{1,6}(?![\w.,/%-]*\d)\b")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DATE = re.compile(
    rf"\b(?:{'|'.join(_MONTHS[:4] + _MONTHS[5:])})\b(?= \d)|\b(?:19|20)\d\d\b|\d{{4}}-\d\d-\d\d"
)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}(?: [A-Z][a-z]{2,}){0,2}\b")
_PROSE = re.compile(r"^[A-Z][^\n{}=<>|`]{50,300}[.!?]$")
_NAMES = (
    "Northwind Traders",
    "Helena Marsh",
    "Riverton",
    "Contoso",
    "Lakeside",
    "Dr. Amara Okafor",
)

Case = tuple[str, Sequence[tuple[str, str]]]
"""A question, and the passages that were found: id of the document and text."""


def quality_of_grounding() -> str:
    """What the rules find without a model."""
    parts: list[str] = []
    for name, cases, texts in read_cases():
        parts += [f"`{name}`, {len(cases)} cases:", *judge_cases(cases, texts)]
    sets = read_passages()
    if sets:
        prose = [item for item in sets if PROSE in item[0]]
        parts += judge_alterations([*prose, *(read_labelled())])
        for name, docs, queries in sets:
            if PROSE in name:
                parts += judge_topics(name, docs, queries)
        for name, docs, queries in sets:
            parts += judge_shortage(name, docs, queries)
    if not parts:
        return section("Grounding", f"Not measured: `{GROUNDING}` and `{RETRIEVAL}` name no sets.")
    return section("Grounding, without a model", *parts)


def judge_cases(cases: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> list[str]:
    """Conflicts and "not enough" by kind of case; the rules were tuned on half of the questions."""
    found: dict[tuple[str, int], list[tuple[bool, bool]]] = defaultdict(list)
    quotes = [0, 0]
    questions = {question: at for at, question in enumerate(dict.fromkeys(c["q"] for c in cases))}
    for case in cases:
        evidence = ground((case["q"], [(id_, texts[id_]) for id_ in case["docs"]]))
        half = questions[case["q"]] % 2
        found[case["kind"], half].append((bool(evidence.conflicts), evidence.enough))
        for citation in evidence.citations:
            quotes[0] += 1
            text = texts[citation.document]
            quotes[1] += text[citation.start : citation.end] == citation.quote
    kinds = list(dict.fromkeys(kind for kind, _ in found))
    rows = [
        [kind, *(f"{share(found[kind, half], part):.2f}" for part in (0, 1) for half in (0, 1))]
        for kind in kinds
    ]
    head = ["kind", "conflict, tuned half", "held out", "enough, tuned half", "held out"]
    held = {kind: share(found[kind, 1], 0) for kind in kinds}
    few = {kind: 1 - share(found[kind, 1], 1) for kind in kinds}
    missed = sum(value for kind, value in few.items() if kind != "none")
    return [
        table(head, rows),
        "\n".join(
            [
                reach(
                    "quotes that stand word for word in their document", quotes[1] / quotes[0], 1
                ),
                reach("reworded contradictions found, held out", held["conflict"], 0.50),
                reach("passages that agree without an alarm, held out", 1 - held["agree"], 0.80),
                reach('"not enough" where it is so, held out', few["none"], 0.90),
                reach("and right where it is said", few["none"] / (few["none"] + missed), 0.76),
            ]
        ),
    ]


def judge_alterations(sets: Sequence[tuple[str, Any, Any]]) -> list[str]:
    """One fact of a passage is altered; the same passage in other punctuation agrees."""
    rng = random.Random(SEED)
    rows: list[list[str]] = []
    hits = alarms = total = 0
    for kind, alter in (("figure", alter_figure), ("date", alter_date), ("name", alter_name)):
        for form, cut in (("passage", cut_passage), ("sentence", cut_sentence)):
            pairs = list(make_pairs(sets, alter, cut, rng))
            if not pairs:
                continue
            found = sum(bool(ground((q, [("a", a), ("b", b)])).conflicts) for q, a, b in pairs)
            plain = [(q, a, repunctuate(a)) for q, a, _ in pairs]
            false = sum(bool(ground((q, [("a", a), ("b", b)])).conflicts) for q, a, b in plain)
            hits, alarms, total = hits + found, alarms + false, total + len(pairs)
            count = len(pairs)
            rows.append(
                [f"{kind} in a {form}", str(count), f"{found / count:.2f}", f"{false / count:.2f}"]
            )
    title = (
        "Passages beside themselves with one fact altered, and beside themselves in other "
        "punctuation:"
    )
    return [
        title,
        table(["altered", "pairs", "found", "alarms on pairs that agree"], rows),
        "\n".join(
            [
                reach("altered facts found", hits / total, 0.80),
                reach("pairs that agree without an alarm", 1 - alarms / total, 0.90),
            ]
        ),
    ]


def judge_topics(
    name: str, docs: Sequence[Mapping[str, Any]], queries: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Whether confidence tells the passage with the answer from the nearest one without."""
    find = make_bm25([f"{doc['title']}\n{doc['text']}" for doc in docs])
    good: list[float] = []
    bad: list[float] = []
    alarms = 0
    found: list[Case] = []
    for query in queries:
        ranked = [docs[at] for at in find(query["q"], 30)]
        right = next((doc for doc in ranked if doc["id"] in query["gold"]), None)
        wrong = next((doc for doc in ranked if doc["id"] not in query["gold"]), None)
        if right is None or wrong is None:
            continue
        good.append(confidence((query["q"], [(right["id"], right["text"])])))
        bad.append(confidence((query["q"], [(wrong["id"], wrong["text"])])))
        case = (query["q"], [(doc["id"], doc["text"]) for doc in ranked[:8]])
        found.append(case)
        alarms += bool(ground(case).conflicts)
    wins = sum((a > b) + 0.5 * (a == b) for a in good for b in bad)
    cost = [cpu_ms_at(ground, found[:20], percent=percent) for percent in (50, 95)]
    return [
        f"`{name}`, the passage with the answer against the best other one, {len(good)} questions:",
        "\n".join(
            [
                reach("AUROC of confidence", wins / (len(good) * len(bad)), 0.65),
                reach(
                    "questions whose eight best passages raise no alarm",
                    1 - alarms / len(found),
                    0.90,
                ),
                f"* CPU for eight passages, ms: p50 {number(cost[0])}, p95 {number(cost[1])}",
            ]
        ),
    ]


def judge_shortage(
    name: str, docs: Sequence[Mapping[str, Any]], queries: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Whether what was found is called enough, with the documents that answer and without them.

    The thresholds were tuned on questions with even numbers. What answers a question may also stand
    in a document that is not labelled: then *enough* without the labelled ones is no mistake.
    """
    found = asyncio.run(_ask_with_and_without(docs, queries))
    rows: list[list[str]] = []
    wrong = 0.0
    for half, title in ((0, "tuned half"), (1, "held out")):
        shares = [
            sum(enough) / len(enough)
            for with_answer in (True, False)
            if (enough := [it[2] for it in found if it[0] % 2 == half and it[1] is with_answer])
        ]
        wrong = (1 - shares[0] + shares[1]) / 2
        rows.append([title, *(f"{share:.2f}" for share in shares), f"{wrong:.2f}"])
    head = ["questions", "enough, with the answer", "enough, without", "wrong"]
    title = (
        f"`{name}`, found by words in the whole base, and in what is left of it without the "
        "documents that answer:"
    )
    return [
        title,
        table(head, rows),
        reach("right about enough, held out", 1 - wrong, 0.75),
    ]


async def _ask_with_and_without(
    docs: Sequence[Mapping[str, Any]], queries: Sequence[Mapping[str, Any]]
) -> list[tuple[int, bool, bool]]:
    """The number of a question, whether its answer was there, and whether it was enough."""
    from pegboard.core.ports.knowledge.document_store import DocumentScope
    from pegboard.core.principal import LOCAL
    from pegboard.knowledge.grounding.evidence_retriever import retrieve_evidence
    from pegboard.knowledge.grounding.ground import ground as ground_question
    from pegboard.knowledge.retrieve import Retriever, SearchedBase
    from pegboard.storage import open_storage

    storage = open_storage(tempfile.mkdtemp(prefix="pegboard-grounding-"))
    await fill(storage, docs, None)
    retriever = Retriever(storage.documents, storage.knowledge_index)
    every = {name_document(doc["id"]) for doc in docs}
    outcomes: list[tuple[int, bool, bool]] = []
    for at, query in enumerate(queries):
        labelled = {name_document(id_) for id_ in query["gold"]}
        for with_answer in (True, False):
            left = () if with_answer else tuple(sorted(every - labelled))

            async def search(part: str, /, *, limit: int, left: Any = left) -> Any:
                scope = DocumentScope(bases=(), principal=LOCAL, documents=left)
                bases = [SearchedBase(id="base", name="base")]
                return await retriever.retrieve(part, bases, scope, limit=limit)

            found = await retrieve_evidence(query["q"], search)
            if with_answer and not any(hit.piece.id in query["gold"] for hit in found.hits):
                continue
            evidence = await ground_question(query["q"], found)
            outcomes.append((at, with_answer, evidence.enough))
    return outcomes


def make_bm25(texts: Sequence[str]) -> Callable[[str, int], list[int]]:
    """The positions of the best texts for a question."""
    from pegboard.knowledge.grounding.words import list_stems

    counts = [Counter(list_stems(text)) for text in texts]
    lengths = [sum(count.values()) for count in counts]
    mean = sum(lengths) / len(lengths)
    having = Counter(stem for count in counts for stem in count)

    def find(question: str, limit: int) -> list[int]:
        scores: Counter[int] = Counter()
        for stem in set(list_stems(question)):
            rarity = math.log(1 + (len(texts) - having[stem] + 0.5) / (having[stem] + 0.5))
            for at, count in enumerate(counts):
                if stem in count:
                    spread = count[stem] + 1.2 * (0.25 + 0.75 * lengths[at] / mean)
                    scores[at] += rarity * count[stem] * 2.2 / spread
        return [at for at, _ in scores.most_common(limit)]

    return find


def ground(case: Case) -> Any:
    """The evidence of the rules for a question and its passages."""
    from pegboard.core.knowledge import Hit, Piece, Retrieval
    from pegboard.knowledge.grounding.ground import ground as ground_question

    question, passages = case
    hits = tuple(
        Hit(
            piece=Piece(
                id=id_, document=id_, base="b", number=1, text=text, start=0, end=len(text)
            ),
            score=SCORE,
        )
        for id_, text in passages
    )
    return asyncio.run(ground_question(question, Retrieval(question=question, hits=hits)))


def confidence(case: Case) -> float:
    found = ground(case).confidence
    return found.value if found else 0.0


def share(found: Sequence[tuple[bool, bool]], part: int) -> float:
    return sum(item[part] for item in found) / len(found) if found else 0.0


def make_pairs(
    sets: Sequence[tuple[str, Any, Any]],
    alter: Callable[[str, random.Random], str | None],
    cut: Callable[[str], str | None],
    rng: random.Random,
) -> Iterator[tuple[str, str, str]]:
    """A title as the question, a passage, and the passage with one fact altered; at most 120."""
    docs = [doc for _, docs, _ in sets for doc in docs]
    rng.shuffle(docs)
    count = 0
    for doc in docs:
        passage = cut(doc["text"])
        if passage is None:
            continue
        sentences = [line for line in re.split(r"(?<=[.!?])\s+|\n+", passage) if _PROSE.match(line)]
        rng.shuffle(sentences)
        for sentence in sentences:
            changed = alter(sentence, rng)
            if changed is not None:
                yield doc["title"] or sentence, passage, passage.replace(sentence, changed, 1)
                count += 1
                break
        if count == 120:
            return


def cut_passage(text: str) -> str | None:
    return text[:1500]


def cut_sentence(text: str) -> str | None:
    lines = [line for line in re.split(r"(?<=[.!?])\s+|\n+", text) if _PROSE.match(line)]
    fit = [line for line in lines if re.search(r"\d|(?<=[a-z,] )[A-Z][a-z]{3}", line)]
    return fit[0] if fit else None


def alter_figure(text: str, rng: random.Random) -> str | None:
    found = [match for match in _FIGURE.finditer(text) if not re.match(r"(?:19|20)\d\d$", match[0])]
    if not found:
        return None
    match = rng.choice(found)
    value = int(match[0]) + rng.choice([1, 2, 5, 10, 30])
    return f"{text[: match.start()]}{value}{text[match.end() :]}"


def alter_date(text: str, rng: random.Random) -> str | None:
    found = list(_DATE.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    if match[0] in _MONTHS:
        new = rng.choice([month for month in _MONTHS if month != match[0]])
    else:
        new = f"{int(match[0][:4]) + rng.choice([1, 2, 3])}{match[0][4:]}"
    return f"{text[: match.start()]}{new}{text[match.end() :]}"


def alter_name(text: str, rng: random.Random) -> str | None:
    found = list(_NAME.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    new = rng.choice([name for name in _NAMES if name != match[0]])
    return f"{text[: match.start()]}{new}{text[match.end() :]}"


def repunctuate(text: str) -> str:
    """The same words: other dashes, quotation marks, spaces and marks of thousands."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = text.replace('"', "'").replace(" - ", " \u2013 ").replace("; ", ", ")
    return re.sub(r"\.(?=\s|$)", ";", text).replace(", ", " , ")


def read_cases() -> list[tuple[str, list[Any], dict[str, str]]]:
    folder = os.environ.get(GROUNDING, "")
    return [
        (
            path.name.removesuffix(".cases.jsonl"),
            _lines(path),
            {
                doc["id"]: doc["text"]
                for doc in _lines(path.with_name(path.name.replace(".cases.", ".docs.")))
            },
        )
        for path in (sorted(Path(folder).glob("*.cases.jsonl")) if folder else ())
    ]


def read_labelled() -> list[tuple[str, list[Any], list[Any]]]:
    """The passages of the labelled cases, whose facts are altered, too."""
    return [
        (name, [{"title": "", "text": text} for text in texts.values()], [])
        for name, _, texts in read_cases()
    ]


def read_passages() -> list[tuple[str, list[Any], list[Any]]]:
    folder = os.environ.get(RETRIEVAL, "")
    return [
        (
            path.name.removesuffix(".docs.jsonl"),
            _lines(path),
            _lines(path.with_name(path.name.replace(".docs.", ".queries."))),
        )
        for path in (sorted(Path(folder).glob("*.docs.jsonl")) if folder else ())
    ]


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    print(quality_of_grounding())
