"""Check an answer of a model: whether each number that it cites carries its sentence."""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from pegboard.core.knowledge import Citation
from pegboard.knowledge.grounding.citations import find_quote
from pegboard.knowledge.grounding.evidence_frame import read_marked
from pegboard.knowledge.grounding.facts import Fact, find_facts
from pegboard.knowledge.grounding.negation import count_negations
from pegboard.knowledge.grounding.question import MAX_QUESTION
from pegboard.knowledge.grounding.spans import split_spans
from pegboard.knowledge.grounding.words import find_words, guess_language

MIN_SUPPORT = 0.3
"""The share of a sentence's words that its quotes must have."""
_NUMBERS = re.compile(r"[ \t]?[\[【]([\d ,;、]+)[\]】]")
_TRAIL = re.compile(r"(?:[ \t]?[\[【] ?\d{1,3}(?: ?[,;、] ?\d{1,3}){0,20} ?[\]】](?!\())+")
_SAID = re.compile(r"[“\"„«「]([^”\"“»」\n]{12,})[”\"“»」]")
_MAX_GROUP = 20
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


class CheckedAnswer(Struct, frozen=True, kw_only=True):
    """An answer whose numbers were checked.

    Attributes:
        text: Without the numbers that failed.
        citations: Those whose numbers are left, by number.
        sentences: By number: the sentences that it carries.
        left_out: How many numbers were dropped.
        notice: What to tell a reader of them; empty when none was dropped.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    sentences: Mapping[int, Sequence[str]] = {}
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
    checked = _Lines(known, question)
    at = 0
    for line in text.splitlines(keepends=True):
        if any(start < at + len(line) and at < end for start, end in code):
            checked.skip(line, [(start - at, end - at) for start, end in code])
        else:
            checked.read(line)
        at += len(line)
    return CheckedAnswer(
        text="".join(checked.parts),
        citations=tuple(checked.used[number] for number in sorted(checked.used)),
        sentences=checked.sentences,
        left_out=checked.left_out,
        notice=describe_left_out(checked.left_out),
    )


class _Lines:
    """An answer, checked line by line."""

    def __init__(self, known: Mapping[int, Citation], question: str) -> None:
        self._known = known
        self._question = question
        self.parts: list[str] = []
        self.used: dict[int, Citation] = {}
        self.sentences: dict[int, list[str]] = {}
        self.left_out = 0

    def skip(self, line: str, code: Sequence[tuple[int, int]]) -> None:
        """A line with code, in which brackets are no numbers of quotes."""
        blank = list(line)
        for start, end in code:
            for at in range(max(0, start), min(len(line), end)):
                blank[at] = " " if blank[at] != "\n" else "\n"
        self.read(line, "".join(blank))

    def read(self, line: str, shown: str = "") -> None:
        """A line, and what of it is looked at."""
        shown = shown or line
        trails = list(_TRAIL.finditer(shown))
        if not trails:
            self.parts.append(line)
            return
        spans = split_spans(_TRAIL.sub(lambda match: " " * len(match[0]), shown))
        at = 0
        for trail in trails:
            before = [span.text for span in spans if span.start <= trail.start()]
            sentence = read_marked(before[-1] if before else "").strip()
            self.parts += [line[at : trail.start()], self._check(trail[0], sentence)]
            at = trail.end()
        self.parts.append(line[at:])

    def _check(self, trail: str, sentence: str) -> str:
        """The numbers behind a sentence that carry it, as they were written."""
        named = (int(number) for number in re.findall(r"\d+", trail))
        group = [self._known[number] for number in named if number in self._known]
        good = {
            citation.number: citation
            for citation in group[:_MAX_GROUP]
            if carries(citation, sentence, group=group, question=self._question)
        }
        self.used |= good
        for number in good:
            self.sentences.setdefault(number, []).append(sentence)

        def keep(match: re.Match[str]) -> str:
            numbers = [int(number) for number in re.findall(r"\d+", match[1])]
            left = [number for number in numbers if number in good]
            self.left_out += len(numbers) - len(left)
            space = match[0][: len(match[0]) - len(match[0].lstrip())]
            return f"{space}[{', '.join(map(str, left))}]" if left else ""

        return _NUMBERS.sub(keep, trail)


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
    around = (
        f"{citation.quote}\n{citation.title[:200]}\n{citation.heading[:200]}\n{citation.edition}"
    )
    facts = [fact for fact in find_facts(sentence) if fact.kind != "name"]
    own = _has_facts(facts, around)
    others = "\n".join(f"{item.quote}\n{item.title[:200]}\n{item.edition}" for item in group)
    if not own and not _has_facts(facts, f"{around}\n{others}\n{question[:MAX_QUESTION]}"):
        return False
    if _speak_differently(sentence, citation.quote):
        return own
    share = _share_words(sentence, around)
    if share < MIN_SUPPORT and not (facts and own and share > 0):
        return False
    return not _denies(sentence, citation.quote)


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
    """Whether two texts are known to be in different languages."""
    one, other = guess_language(first), guess_language(second)
    return bool(one) and bool(other) and one != other
