"""Check an answer of a model: whether each number that it cites carries its sentence."""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from pegboard.core.knowledge import Citation
from pegboard.knowledge.grounding.citations import find_quote
from pegboard.knowledge.grounding.evidence_frame import read_marked
from pegboard.knowledge.grounding.facts import Fact, find_facts
from pegboard.knowledge.grounding.negation import count_negations
from pegboard.knowledge.grounding.spans import split_spans
from pegboard.knowledge.grounding.words import STOP_WORDS, find_words

MIN_SUPPORT = 0.3
"""The share of a sentence's words that its quotes must have."""
_NUMBERS = re.compile(r"[ \t]?[\[【]\s*(\d{1,3}(?:\s*[,;、]\s*\d{1,3})*)\s*[\]】](?!\()")
_TRAIL = re.compile(r"(?:[ \t]?[\[【][\d\s,;、]+[\]】])+")
_SAID = re.compile(r"[“\"„«「]([^”\"“»」\n]{12,})[”\"“»」]")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


class CheckedAnswer(Struct, frozen=True, kw_only=True):
    """An answer whose numbers were checked.

    Attributes:
        text: Without the numbers that failed.
        citations: Those whose numbers are left, by number.
        left_out: How many numbers were dropped.
        notice: What to tell a reader of them; empty when none was dropped.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    left_out: int = 0
    notice: str = ""


def check_answer(text: str, citations: Sequence[Citation], *, question: str = "") -> CheckedAnswer:
    """Drop each number of an answer that does not exist or does not carry its sentence.

    A number carries a sentence if its quote has enough of the sentence's words and all its figures
    and dates (those of the question may come from there), does not deny it, and has what the
    sentence puts between quotation marks. A sentence in another language than the quote is judged
    by figures and dates alone.

    Args:
        text: The answer, with numbers as `[1]` or `[1, 2]`.
        citations: The evidence that the model was shown.
        question: What was asked.
    """
    known = {citation.number: citation for citation in citations}
    code = [match.span() for match in _CODE.finditer(text)]
    parts: list[str] = []
    used: dict[int, Citation] = {}
    at = left_out = 0
    for match in _NUMBERS.finditer(text):
        if any(start <= match.start() < end for start, end in code):
            continue
        sentence = _find_sentence(text, match.start())
        numbers = [int(number) for number in re.findall(r"\d+", match[1])]
        group = _find_group(text, match.start(), known)
        good = [
            number
            for number in numbers
            if number in known and carries(known[number], sentence, group=group, question=question)
        ]
        left_out += len(numbers) - len(good)
        used |= {number: known[number] for number in good}
        space = match[0][: len(match[0]) - len(match[0].lstrip())]
        parts += [text[at : match.start()], f"{space}[{', '.join(map(str, good))}]" if good else ""]
        at = match.end()
    return CheckedAnswer(
        text="".join([*parts, text[at:]]),
        citations=tuple(used[number] for number in sorted(used)),
        left_out=left_out,
        notice=describe_left_out(left_out),
    )


def describe_left_out(count: int) -> str:
    """What a reader is told of numbers that were dropped."""
    if not count:
        return ""
    return (
        "1 quote was not found and left out."
        if count == 1
        else f"{count} quotes were not found and left out."
    )


def carries(
    citation: Citation,
    sentence: str,
    *,
    group: Sequence[Citation] = (),
    question: str = "",
) -> bool:
    """Whether a citation supports a sentence of an answer.

    Args:
        citation: The one that is judged.
        sentence: Without its numbers.
        group: Those that are cited beside it: figures may come from any of them.
        question: What was asked.
    """
    if not all(find_quote(said, citation.quote) for said in _list_said(sentence, group)):
        return False
    around = f"{citation.quote}\n{citation.title}\n{citation.heading}\n{citation.edition}"
    facts = [fact for fact in find_facts(sentence) if fact.kind != "name"]
    own = _has_facts(facts, around)
    others = "\n".join(f"{item.quote}\n{item.title}\n{item.edition}" for item in group)
    if not all(_has_facts([fact], f"{around}\n{others}\n{question}") for fact in facts):
        return False
    if _speak_differently(sentence, citation.quote):
        return own
    share = _share_words(sentence, around)
    if share < MIN_SUPPORT and not (facts and own and share > 0):
        return False
    return not _denies(sentence, citation.quote)


def _find_sentence(text: str, at: int) -> str:
    """The sentence that a number stands in or behind, without numbers."""
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    blank = _TRAIL.sub(lambda match: " " * len(match[0]), line)
    place, best = at - start, ""
    for span in split_spans(blank):
        if span.start > place:
            break
        best = span.text
    return read_marked(best or blank).strip()


def _find_group(text: str, at: int, known: Mapping[int, Citation]) -> list[Citation]:
    """The citations of the numbers that stand together with one."""
    for match in _TRAIL.finditer(text):
        if match.start() <= at < match.end():
            numbers = (int(number) for number in re.findall(r"\d+", match[0]))
            return [known[number] for number in numbers if number in known]
    return []


def _list_said(sentence: str, group: Sequence[Citation]) -> list[str]:
    """What a sentence puts between quotation marks, and no other quote of its group has."""
    said = [match[1] for match in _SAID.finditer(sentence)]
    return said if len(group) < 2 else []


def _has_facts(facts: Sequence[Fact], text: str) -> bool:
    there = find_facts(text)
    return all(any(fact.agrees(other) for other in there) for fact in facts)


def _share_words(sentence: str, text: str) -> float:
    wanted = {word.stem for word in find_words(sentence) if word.is_content}
    if not wanted:
        return 1.0
    return len(wanted & {word.stem for word in find_words(text)}) / len(wanted)


def _denies(sentence: str, quote: str) -> bool:
    """Whether one of two alike texts negates and the other does not."""
    wanted = {word.stem for word in find_words(sentence) if word.is_content}
    there = {word.stem for word in find_words(quote) if word.is_content}
    both = 2 * len(wanted & there) / max(1, len(wanted) + len(there))
    return both >= 0.75 and count_negations(sentence) % 2 != count_negations(quote) % 2


def _speak_differently(first: str, second: str) -> bool:
    """Whether two texts are in languages of which the small words differ."""
    return not _small_words(first) & _small_words(second) and bool(
        _small_words(first) or _small_words(second)
    )


def _small_words(text: str) -> set[str]:
    return {word.text.casefold() for word in find_words(text)} & STOP_WORDS
