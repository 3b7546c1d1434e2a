"""Pieces that are parted where the meaning changes, as an embedder sees it."""

import asyncio
import math
from collections.abc import Sequence
from itertools import pairwise

from pegboard.core.ports.embedder import Embedder
from pegboard.core.text.measure import measure_text
from pegboard.knowledge.cut.pack import Group, is_full
from pegboard.knowledge.cut.spans import CutSpan, split_sentences, split_span

_CHANGE_SHARE = 0.25
"""The share of borders, those between the least alike, at which the meaning changes."""
_SMALL = 0.25
"""Below this share of a full piece, a change of meaning does not part it."""
_BATCH = 128


async def pack_semantic(
    text: str, spans: Sequence[CutSpan], tokens: int, embedder: Embedder
) -> list[Group]:
    """Pieces of sentences and blocks that are alike.

    Raises:
        Unavailable: The embedder does not answer.
    """
    units = [
        part
        for span in spans
        for sentence in split_sentences(text, span)
        for part in split_span(text, sentence, tokens)
    ]
    likeness = await _compare(text, units, embedder)
    border = sorted(likeness)[int(len(likeness) * _CHANGE_SHARE)] if likeness else 0.0
    groups: list[Group] = []
    for number, unit in enumerate(units):
        group = groups[-1] if groups else None
        if group is None or group[-1].page != unit.page:
            groups.append([unit])
            continue
        size = measure_text(text[group[0].start : group[-1].end])
        changes = likeness[number - 1] < border and size >= tokens * _SMALL
        has_text = any(item.kind != "heading" for item in group)
        is_parted = has_text and (changes or unit.kind == "heading")
        if is_parted or is_full(text, group, unit, tokens):
            groups.append([unit])
        else:
            group.append(unit)
    return groups


async def _compare(text: str, units: Sequence[CutSpan], embedder: Embedder) -> list[float]:
    """How much each unit is like the one after it."""
    texts = [text[unit.start : unit.end] for unit in units]
    vectors: list[list[float]] = []
    for start in range(0, len(texts), _BATCH):
        vectors += await embedder.embed(texts[start : start + _BATCH])
    return await asyncio.to_thread(
        lambda: [_cosine(one, other) for one, other in pairwise(vectors)]
    )


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = sum(first * second for first, second in zip(one, other, strict=True))
    size = math.hypot(*one) * math.hypot(*other)
    return product / size if size else 0.0
