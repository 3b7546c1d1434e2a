"""What a question asks for: its parts, the words it is about, and the kind of answer it needs."""

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from pegboard.knowledge.grounding.facts import Fact, find_facts
from pegboard.knowledge.grounding.patterns import any_of
from pegboard.knowledge.grounding.words import find_words

AnswerKind = Literal[
    "polarity",
    "person",
    "date",
    "place",
    "number",
    "money",
    "duration",
    "frequency",
    "reason",
    "text",
]

MAX_QUESTION = 1_000
"""Characters of a question that are read."""
_MAX_PARTS = 6
_ROLE_WORDS = 3
_KINDS: Mapping[AnswerKind, re.Pattern[str]] = {
    "money": any_of(
        r"""
        \bhow much (?:does|do|did|is|are|was|will|would)\b.*\b(?:cost|pay|price|charge)
        \bwhat(?:'s| is| are| was)? (?:the )?(?:price|cost|fee)s?\b / \bwas kostet / \bwie teuer
        \bwhat (?:does|do|did|will|would)\b.*\bcosts?\b
        \bhow much (?:do|must|should)\b.*\bpay\b / 多少钱 / 价格是多少
        """
    ),
    "frequency": any_of(
        r"""
        \bhow (?:often|frequently)\b / \bhow many times\b
        \bwie (?:oft|häufig)\b / 多久一次 / 多少次
        """
    ),
    "duration": any_of(
        r"""
        \bhow (?:long|many (?:days|weeks|months|years|hours|minutes|seconds))\b
        \bwie (?:lange?|viele (?:tage|wochen|monate|jahre|stunden|minuten))\b
        多久 / 多长时间 / 几天 / 多少天
        """
    ),
    "number": any_of(
        r"""
        \bhow (?:many|much|old|tall|high|far|fast|big|large|deep|heavy|often)\b
        \bwhat (?:percentage|number|share|proportion|amount|age|size|limit)\b
        \bwie ?(?:viele?|hoch|gro[sß]+|alt|weit|schwer|oft)\b / \bcombien\b / \bcuánt[oa]s?\b
        多少 / 几个 / 多大
        """
    ),
    "date": any_of(
        r"""
        ^\W*when\b / \b(?:and|,) when\b
        \b(?:what|which|in what|in which) (?:year|date|day|month|time)s?\b / \bwann\b
        \bseit wann\b / \bquand\b / \bcuándo\b / \bwelche[mns]? (?:jahr|tag|datum|monat)\b
        什么时候 / 何时 / 哪一?年
        几点
        """
    ),
    "person": any_of(
        r"""
        ^\W*(?:who|whom|whose)\b
        \b(?:and|,|by|to|for|with) (?:who|whom|whose)\b(?! (?:is|are|was|were|has|have))
        ^\W*(?:by|to|for|with) whom?\b / ^\W*(?:wer|wem|wen|wessen)\b
        \bqui\b(?= (?:a|est|sont)) / \bquién(?:es)?\b / 谁
        """
    ),
    "place": any_of(
        r"""
        ^\W*where\b / \b(?:and|,) where\b
        \b(?:what|which|in what|in which) (?:city|country|place|state|town)\b
        ^\W*(?:wo|wohin|woher)\b / ^\W*où\b / \bdónde\b / 哪里 / 哪儿 / 在哪 / 什么地方
        """
    ),
    "reason": any_of(
        r"""
        ^\W*why\b / \b(?:and|,) why\b / \b(?:warum|weshalb|wieso)\b / \bpourquoi\b / 为什么
        """
    ),
}
_AUXILIARIES = (
    r"is|are|was|were|am|do|does|did|can|could|will|would|should|shall|may|might|must|has|"
    r"have|had|isn't|aren't|wasn't|don't|doesn't|didn't|can't|ist|sind|war|waren|hat|haben|"
    r"hatte|kann|können|konnte|darf|dürfen|muss|müssen|soll|sollen|wird|werden|gibt|gab|würde|"
    r"könnte|est-ce|es|son|puede"
)
_POLARITY = any_of(
    rf"""
    ^\W*(?:(?:in|on|at|for|if|during|given|under|according)\b[^,?]*, )?(?:{_AUXILIARIES})\b
    [吗嘛]\W*$ / 是否 / 是不是 / 能不能 / 可不可以 / 有没有 / 会不会
    """
)
_STARTS = (
    r"how|what|when|where|who|why|which|is|are|does|do|can|may|must|wie|was|wann|wo|wer|warum|"
    r"welche\w?|ist|sind|kann|darf|muss"
)
_SPLIT = any_of(
    rf"""
    [?？]\s* / ;\s+
    ,?\s+(?:and|und|or|oder)\s+(?=(?:{_STARTS})\b)
    [，,]\s*(?=(?:谁|何时|什么时候|哪里|多少|为什么|怎么|如何))
    """
)
_CONDITION = any_of(
    rf"""
    \W*(?:when|if|where|while|wenn|falls)\b[^,?]*,\s*(?P<rest>(?:{_STARTS})\b.*)
    """
)
_GERMAN_VERBS = (
    r"ist|sind|kostet|kosten|macht|muss|müssen|kann|können|darf|passiert|geschieht|bedeutet|"
    r"heißt|wird|soll|gilt|hat|haben|für|genau|bekommt|zahlt|zahlen|sagt|steht|tun"
)
_GERMAN_WHAT = any_of(
    rf"""
    \W*was (?:{_GERMAN_VERBS})\b
    """
)
_ASK_WORDS = any_of(
    r"""
    \bhow many (?:days|weeks|months|years|hours|minutes|seconds)\b
    \bwie viele (?:tage|wochen|monate|jahre|stunden|minuten)\b
    \bhow (?:long|old|tall|high|far|fast|big|large|often)\b
    \bwie ?(?:lange?|alt|hoch|weit|gro[sß]+|oft)\b
    多久 / 多长 / 多少
    """
)
_UNIT_WORDS = any_of(
    r"""
    \b(?:day|week|month|year|hour|minute|second|tag|woche|monat|jahr|stunde|minute|sekunde)
    [天周月年] / 小时 / 分钟
    """
)
_HOURS = (
    r"(?:about |half past |quarter (?:past|to) )?"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight)"
)
_STUNDEN = (
    r"(?:halb |viertel (?:vor|nach) )?"
    r"(?:eins?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|mitternacht)"
)
_CLOCK_ENDS = r"(?=\W*$|[.,;:!?)]| (?:in the|on|to|and|every|each|sharp|und|bis)\b)"
_CLOCK = any_of(
    rf"""
    \b{_HOURS} (?:o['’]clock|[ap]\.?m\b) / \b{_STUNDEN} uhr\b / [一二三四五六七八九十]点
    \b(?:at|by|until|till|before|after|from) {_HOURS}{_CLOCK_ENDS}
    \b(?:um|bis|ab|vor|nach) {_STUNDEN}{_CLOCK_ENDS}
    """
)
"""Times of a day in words."""
_PRICE_COLUMN = any_of(
    r"""
    \b(?:price|cost|fee|charge|rate|amount|fare|tariff|total)s?\b / \b(?:eur|usd|gbp|chf)\b / [€$£¥]
    preis / kosten / gebühr / betrag / 价格 / 费用 / 金额
    """
)
_MONEY = frozenset({"eur", "usd", "gbp", "yen", "yuan"})
_PLACE = any_of(
    r"""
    \b(?:in|at|on|near|from|to|under|inside|behind|via|im|am|auf|bei|aus|nach|unter|à|en)\s+\S
    在 / 位于
    """
)
_REASON_WORDS = (
    r"because|since|due to|so that|in order to|therefore|as a result|reason|thus|which is why|"
    r"to (?:avoid|ensure|prevent|allow|help|keep|make|reduce|improve)|weil|da|damit|deshalb|"
    r"daher|wegen|um .* zu|parce que|porque"
)
_FREQUENCY = any_of(
    r"""
    \b(?:daily|weekly|monthly|yearly|annually|hourly|once|twice|always|never|rarely|often|regularly)\b
    \b(?:every|each|per) \w+ / \btimes\b / \b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b
    \b(?:täglich|wöchentlich|monatlich|jährlich|einmal|zweimal|jede[nrs]?|pro|mal)\b / 每 / 次
    """
)
_AGENT = any_of(r"\b(?:by|von|durch) (?:the |a |an |our |der |dem |einem |einer )?(?P<agent>\w+)")
_REASON = any_of(
    rf"""
    \b(?:{_REASON_WORDS})\b
    因为 / 由于 / 所以 / 以便
    """
)


class AskedPart(Struct, frozen=True, kw_only=True):
    """A part of a question that wants an answer of its own.

    Attributes:
        stems: Of the words that it is about, each once, in order.
        names: Those of them that stand in a name or a figure: they must not be missed.
        facts: Named in the question, so no answer to it.
        own: Of the stems, those that it does not have from the part before it.
    """

    text: str
    kind: AnswerKind
    stems: tuple[str, ...]
    names: frozenset[str] = frozenset()
    facts: tuple[Fact, ...] = ()
    own: frozenset[str] = frozenset()


def read_question(question: str) -> list[AskedPart]:
    """The parts of a question, at least one; a later part keeps the subject of the first."""
    question = " ".join(question[:MAX_QUESTION].split())
    texts = [text.strip() for text in _SPLIT.split(question) if text.strip()] or [question]
    parts = [_read_part(text) for text in texts]
    parts = [part for part in parts if part.stems][:_MAX_PARTS] or parts[:1]
    return [parts[0], *(_add_subject(part, parts[0]) for part in parts[1:])]


def holds_answer(part: AskedPart, text: str) -> bool:
    """Whether a text holds anything of the kind that a part asks for, and does not itself name."""
    match part.kind:
        case "polarity" | "text":
            return True
        case "frequency":
            return _FREQUENCY.search(text) is not None
        case "person":
            return bool(find_answers(part, text)) or _names_role(part, text)
        case "date":
            return bool(find_answers(part, text)) or _CLOCK.search(text) is not None
        case "reason":
            return _REASON.search(text) is not None
        case "place":
            names = [fact for fact in _find_new(part, text) if fact.kind == "name"]
            return bool(names) or _PLACE.search(text) is not None
        case _:
            return bool(find_answers(part, text))


def holds_answer_in_row(part: AskedPart, row: str, header: str) -> bool:
    """Whether a row of a table holds an answer.

    A price stands in a column of prices, or names its currency.
    """
    if part.kind != "money" or not header:
        return holds_answer(part, row)
    if any(fact.unit in _MONEY for fact in find_answers(part, row)):
        return True
    columns = zip(_split_cells(header), _split_cells(row), strict=False)
    return any(
        _PRICE_COLUMN.search(name) is not None and holds_answer(part, cell)
        for name, cell in columns
    )


def _split_cells(row: str) -> list[str]:
    return row.strip().split("|" if "|" in row else "\t")


def find_answers(part: AskedPart, text: str) -> list[Fact]:
    """The facts in a text that may answer a part."""
    return [fact for fact in _find_new(part, text) if _fits(part.kind, fact, text)]


def _names_role(part: AskedPart, text: str) -> bool:
    """Whether somebody is named by a role: `the customer pays`, `paid by the customer`."""
    if _AGENT.search(text):
        return True
    words = find_words(text)
    first = next((at for at, word in enumerate(words) if word.stem in part.stems), 0)
    return any(word.is_content for word in words[max(0, first - _ROLE_WORDS) : first])


def _find_new(part: AskedPart, text: str) -> list[Fact]:
    return [
        fact for fact in find_facts(text) if not any(fact.agrees(named) for named in part.facts)
    ]


def _fits(kind: AnswerKind, fact: Fact, text: str) -> bool:
    match kind:
        case "person" | "place":
            return fact.kind == "name"
        case "date":
            is_year = fact.kind == "figure" and re.fullmatch(r"1[0-9]\d\d|20\d\d", fact.text)
            return fact.kind == "date" or is_year is not None or _is_time(fact, text)
        case "money":
            return fact.kind == "figure" and (fact.unit in _MONEY or not fact.unit)
        case "duration":
            return _is_time(fact, text)
        case "number":
            return fact.kind == "figure"
        case _:
            return False


def _is_time(fact: Fact, text: str) -> bool:
    after = text[fact.start : fact.end + 12]
    return fact.kind == "figure" and _UNIT_WORDS.search(after) is not None


def _read_part(text: str) -> AskedPart:
    facts = find_facts(text)
    asks = [match.span() for match in _ASK_WORDS.finditer(text)]
    words = [
        word
        for word in find_words(text)
        if word.is_content and not any(start < word.end and word.start < end for start, end in asks)
    ]
    names = {
        word.stem
        for word in words
        if any(fact.start <= word.start and word.end <= fact.end for fact in facts)
    }
    return AskedPart(
        text=text,
        kind=_find_kind(text),
        stems=tuple(dict.fromkeys(word.stem for word in words)),
        names=frozenset(names),
        facts=tuple(facts),
    )


def _find_kind(text: str) -> AnswerKind:
    if clause := _CONDITION.match(text):
        return _find_kind(clause["rest"])
    if _POLARITY.search(text) and not _GERMAN_WHAT.match(text):
        return "polarity"
    for kind, pattern in _KINDS.items():
        if pattern.search(text):
            return kind
    return "text"


def _add_subject(part: AskedPart, first: AskedPart) -> AskedPart:
    """A part that says `it` or little is about what the first one is about."""
    if len(part.stems) > 3 or part.names:
        return part
    stems = dict.fromkeys((*part.stems, *(stem for stem in first.stems if stem in first.names)))
    return AskedPart(
        text=part.text,
        kind=part.kind,
        stems=tuple(stems),
        names=part.names,
        facts=(*part.facts, *first.facts),
        own=frozenset(part.stems),
    )
