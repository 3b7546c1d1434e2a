"""Whether two sentences contradict each other: alike but for a figure, a date, a name or a `not`.

Likeness is no contradiction: two sentences conflict only where a fact stands in both at the same
place with values that do not agree, or one denies what the other says.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from pegboard.core.knowledge import ConflictJudge
from pegboard.knowledge.grounding.facts import Fact, find_facts
from pegboard.knowledge.grounding.negation import find_negations, find_opposite
from pegboard.knowledge.grounding.words import find_words, stem

_ALIKE = 0.75
"""The share of words that two sentences have in common which say the same of the same."""
_RELATED = 0.45
_FEWEST = 3
"""Words and facts of a sentence, at least, that is compared."""
_TIMES = frozenset(
    map(stem, ("day", "week", "month", "year", "hour", "Tag", "Woche", "Monat", "Jahr", "Stunde"))
)
_JUDGES: dict[str, ConflictJudge] = {"figure": "figures", "date": "dates", "name": "names"}


_SYMBOL = re.compile(r"[{}\[\]()<>=;:/\\\"_$#@^|]")
_STATEMENT = re.compile(
    r"\S\s+\S+\s+\S.*[.!?…][\"'”’»)\]]*$|\S(?:\s+\S+){5}|[\u3040-\u9fff]{5}", re.DOTALL
)


class Disagreement(Struct, frozen=True, kw_only=True):
    """What two sentences disagree on.

    Attributes:
        about: In a few words, as `30 days / 14 days`.
    """

    judge: ConflictJudge
    about: str


class Sentence(Struct, frozen=True, kw_only=True):
    """A sentence, read once for many comparisons.

    Attributes:
        content: Stems of its words beside the facts.
        tokens: Its words in order; a fact is one of them, by its kind.
        at: By token: the number of its fact, or -1.
    """

    text: str
    facts: tuple[Fact, ...]
    content: frozenset[str]
    tokens: tuple[str, ...]
    at: tuple[int, ...]
    negations: int
    is_row: bool = False

    @property
    def matter(self) -> frozenset[str]:
        """The words beside what figures count, which says nothing of what they are about."""
        return self.content - {fact.unit for fact in self.facts} - _TIMES


def is_statement(text: str) -> bool:
    """Whether a text says something that can be denied: it is no code, title or label."""
    if len(_SYMBOL.findall(text)) * 16 > len(text):
        return False
    return _STATEMENT.search(text) is not None


def read_sentence(text: str, *, is_row: bool = False) -> Sentence:
    """A sentence with its facts and words."""
    facts = find_facts(text)
    negations = find_negations(text)
    tokens: list[str] = []
    at: list[int] = []
    content: set[str] = set()
    number = 0
    for word in find_words(text):
        while number < len(facts) and facts[number].end <= word.start:
            number += 1
        if number < len(facts) and facts[number].start < word.end:
            if not at or at[-1] != number:
                tokens.append(f"<{facts[number].kind}>")
                at.append(number)
            continue
        tokens.append(word.stem)
        at.append(-1)
        is_negation = any(start < word.end and word.start < end for start, end in negations)
        if word.is_content and not is_negation:
            content.add(word.stem)
    return Sentence(
        text=text,
        facts=tuple(facts),
        content=frozenset(content),
        tokens=tuple(tokens),
        at=tuple(at),
        negations=len(negations),
        is_row=is_row,
    )


def compare_sentences(
    first: Sentence, second: Sentence, *, is_same_matter: bool = False
) -> Disagreement | None:
    """What two sentences disagree on; None if they agree, or speak of something else.

    Args:
        first: Of one document.
        second: Of another.
        is_same_matter: Whether both are known to speak of the same, so that fewer words in common
            are enough.
    """
    if first.is_row or second.is_row:
        return _compare_rows(first, second) if first.is_row and second.is_row else None
    if not _can_compare(first) or not _can_compare(second):
        return None
    common = first.content & second.content
    likeness = 2 * len(common) / (len(first.content) + len(second.content))
    if likeness < _RELATED:
        return None
    if likeness >= _ALIKE:
        return _compare_alike(first, second)
    return _compare_related(first, second) if is_same_matter else None


def _can_compare(sentence: Sentence) -> bool:
    return bool(sentence.content) and len(sentence.content) + len(sentence.facts) >= _FEWEST


def _compare_rows(first: Sentence, second: Sentence) -> Disagreement | None:
    """Rows of tables about the same, of which one cell has another figure or date."""
    ones, others = _split_cells(first.text), _split_cells(second.text)
    if len(ones) != len(others) or not any(character.isalpha() for character in ones[0]):
        return None
    pairs = [(a, b) for a, b in zip(ones, others, strict=True) if a.casefold() != b.casefold()]
    if len(pairs) != 1 or ones[0].casefold() != others[0].casefold():
        return None
    facts = [[fact for fact in find_facts(cell) if fact.kind != "name"] for cell in pairs[0]]
    if len(facts[0]) != 1 or len(facts[1]) != 1 or facts[0][0].agrees(facts[1][0]):
        return None
    return Disagreement(judge=_JUDGES[facts[0][0].kind], about=" / ".join(pairs[0])[:80])


def _split_cells(row: str) -> list[str]:
    return [" ".join(cell.split()) for cell in re.split(r"[|\t]", row.strip().strip("|"))]


def _compare_alike(first: Sentence, second: Sentence) -> Disagreement | None:
    differing, unmatched = _pair_facts(first, second)
    extra = (first.content - second.content, second.content - first.content)
    if differing:
        return _judge_facts(first, differing, unmatched, extra)
    if first.negations % 2 != second.negations % 2 and not unmatched and _are_few(extra, first):
        return Disagreement(judge="negation", about="one denies what the other says")
    if opposite := find_opposite(*extra):
        return Disagreement(judge="negation", about=" / ".join(opposite))
    return None


def _judge_facts(
    sentence: Sentence,
    differing: Sequence[tuple[Fact, Fact]],
    unmatched: int,
    extra: tuple[frozenset[str], frozenset[str]],
) -> Disagreement | None:
    kinds = {one.kind for one, _ in differing}
    if unmatched > 1 or not _are_few(extra, sentence):
        return None
    if "name" in kinds and (len(kinds) > 1 or len(differing) > 1):
        return None  # another subject, of which other things are true
    one, other = differing[0]
    return Disagreement(judge=_JUDGES[one.kind], about=f"{_name(one)} / {_name(other)}")


def _compare_related(first: Sentence, second: Sentence) -> Disagreement | None:
    """Sentences in other words: they disagree where each has one figure of the same unit."""
    shared = 2 * len(first.matter & second.matter)
    is_related = shared >= _RELATED * (len(first.matter) + len(second.matter))
    if not is_related or not _share_names(first, second):
        return None
    for kind in ("figure", "date"):
        ones = [fact for fact in first.facts if fact.kind == kind]
        others = [fact for fact in second.facts if fact.kind == kind]
        if len(ones) != 1 or len(others) != 1 or ones[0].agrees(others[0]):
            continue
        if ones[0].unit == others[0].unit and (ones[0].unit or kind == "date"):
            about = f"{_name(ones[0])} / {_name(others[0])}"
            return Disagreement(judge=_JUDGES[kind], about=about)
    return None


def _share_names(first: Sentence, second: Sentence) -> bool:
    ones = [fact for fact in first.facts if fact.kind == "name"]
    others = [fact for fact in second.facts if fact.kind == "name"]
    short, long = sorted((ones, others), key=len)
    return all(any(name.agrees(other) for other in long) for name in short)


def _pair_facts(first: Sentence, second: Sentence) -> tuple[list[tuple[Fact, Fact]], int]:
    """Facts at the same place that do not agree, and how many have no place in the other."""
    matcher = SequenceMatcher(None, first.tokens, second.tokens, autojunk=False)
    differing: list[tuple[Fact, Fact]] = []
    paired = [0, 0]
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        ones = [first.facts[at] for at in first.at[start:end] if at >= 0]
        others = [second.facts[at] for at in second.at[other_start:other_end] if at >= 0]
        if tag != "equal" and len(ones) != len(others):
            continue
        for one, other in zip(ones, others, strict=True):
            if one.kind == other.kind or tag == "equal":
                paired[0] += 1
                paired[1] += 1
                if one.kind == other.kind and not one.agrees(other):
                    differing.append((one, other))
    return differing, max(len(first.facts) - paired[0], len(second.facts) - paired[1])


def _are_few(extra: tuple[frozenset[str], frozenset[str]], sentence: Sentence) -> bool:
    return max(len(extra[0]), len(extra[1])) <= len(sentence.content) // 6


def _name(fact: Fact) -> str:
    return fact.text if len(fact.text) <= 40 else f"{fact.text[:39]}…"
