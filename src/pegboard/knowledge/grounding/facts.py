"""Facts of a sentence that can be compared: figures, dates and times, and names.

Each has the values that it may stand for: `1.234` is 1234 or 1.234, `03/04/2025` a day in March or
in April. Two facts agree if they share a value.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from pegboard.knowledge.grounding.words import STOP_WORDS, stem

FactKind = Literal["figure", "date", "name"]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier enero",
            "february feb februar février febrero",
            "march mar märz mrz mars marzo",
            "april apr avril abril",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet julio",
            "august aug août agosto",
            "september sep sept septembre septiembre",
            "october oct oktober okt octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday montag lundi lunes", "tuesday dienstag mardi martes",
            "wednesday mittwoch mercredi miércoles", "thursday donnerstag jeudi jueves",
            "friday freitag vendredi viernes", "saturday samstag samedi sábado",
            "sunday sonntag dimanche domingo",
        )
    )
    for name in names.split()
}  # fmt: skip
_NUMERALS = {
    word: value
    for value, words in {
        0: "zero null", 1: "one eins", 2: "two zwei deux dos", 3: "three drei trois tres",
        4: "four vier quatre cuatro", 5: "five fünf cinq cinco", 6: "six sechs seis",
        7: "seven sieben sept siete", 8: "eight acht huit ocho", 9: "nine neun neuf nueve",
        10: "ten zehn dix diez", 11: "eleven elf", 12: "twelve zwölf dozen dutzend",
        13: "thirteen dreizehn", 14: "fourteen vierzehn", 15: "fifteen fünfzehn",
        16: "sixteen sechzehn", 17: "seventeen siebzehn", 18: "eighteen achtzehn",
        19: "nineteen neunzehn", 20: "twenty zwanzig", 30: "thirty dreißig", 40: "forty vierzig",
        50: "fifty fünfzig", 60: "sixty sechzig", 70: "seventy siebzig", 80: "eighty achtzig",
        90: "ninety neunzig",
    }.items()
    for word in words.split()
}  # fmt: skip
_SCALES = {
    "hundred": 100, "hundert": 100, "thousand": 1e3, "tausend": 1e3, "k": 1e3, "million": 1e6,
    "millions": 1e6, "millionen": 1e6, "mio": 1e6, "m": 1e6, "billion": 1e9, "billions": 1e9,
    "bn": 1e9, "milliarde": 1e9, "milliarden": 1e9, "mrd": 1e9, "trillion": 1e12,
    "百": 100, "千": 1e3, "万": 1e4, "亿": 1e8,
}  # fmt: skip
_UNITS = {
    "%": "percent", "％": "percent", "percent": "percent", "prozent": "percent",
    "pct": "percent", "€": "eur", "euro": "eur", "euros": "eur", "eur": "eur", "$": "usd",
    "dollar": "usd", "dollars": "usd", "usd": "usd", "£": "gbp", "¥": "yen", "元": "yuan",
    "kg": "kilogram", "km": "kilometr", "cm": "centimetr", "mm": "millimetr", "min": "minut",
    "mins": "minut", "hr": "hour", "hrs": "hour", "h": "hour", "sec": "second", "secs": "second",
    "tage": "tag", "tagen": "tag", "天": "天", "日": "天", "年": "年", "个月": "月",
}  # fmt: skip
_WIDE_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {
    "两": 2
}

_DATE = re.compile(
    rf"""
    (?P<iso>\b\d{{4}}-\d{{1,2}}(?:-\d{{1,2}})?\b)
    | (?P<wide>\d{{4}}年(?:\d{{1,2}}月(?:\d{{1,2}}[日号])?)?)
    | \b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?(?P<month>{_MONTH})\b\.?,?
        (?:\s+(?:de\s+)?(?P<year>\d{{4}}))?
    | \b(?P<month2>{_MONTH})\b\.?\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*%)
        (?:,?\s+(?P<year2>\d{{4}}))?
    | \b(?P<month3>{_MONTH})\b\.?,?\s+(?P<year3>\d{{4}})\b
    | (?P<slashes>\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b)
    | (?P<clock>\b\d{{1,2}}[:.]\d{{2}}(?::\d{{2}})?\s*(?:[ap]\.?m\b|Uhr\b)|\b\d{{1,2}}:\d{{2}}\b
        |\b\d{{1,2}}\s*(?:[ap]\.?m\b|Uhr\b|o'clock\b))
    | (?P<weekday>\b(?:{"|".join(_DAYS)})s?\b)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MONTH_ALONE = re.compile(
    r"\b(January|February|March|April|June|July|August|September|October|November|December|Januar|"
    r"Februar|März|Juni|Juli|Oktober|Dezember)\b|\b(?:[Ii]n|[Bb]y|[Ss]ince|[Uu]ntil|[Ii]m|[Ss]eit|"
    r"[Bb]is) (May|Mai)\b"
)
_FIGURE = re.compile(
    r"(?P<currency>[$€£¥]\s?)?(?P<number>(?<![A-Za-z0-9_.])(?<![A-Za-z]-)(?:(?<![\w)])[-−+])?\d+(?:[.,'’\u00a0\u202f]\d+)*|(?<![\w.])\.\d+)"
    r"(?P<ordinal>(?:st|nd|rd|th)\b)?"
    r"(?P<gap>[\s-]?)(?P<scale>(?:hundred|thousand|millions?|billions?|trillion|hundert|tausend|Millionen|"
    r"Million|Milliarden?|Mio|Mrd|bn|[kKM])\b\.?|[百千万亿])?"
    r"(?P<unit>\s?[%％€$£]|[\s-]?(?:[^\W\d_]+))?"
)
_NUMERAL = re.compile(
    rf"\b(?P<word>(?:{'|'.join(sorted(_NUMERALS, key=len, reverse=True))})"
    r"(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?"
    r"|(?:a|one)(?= (?:hundred|thousand|million|billion|dozen)\b))\b"
    r"(?P<scale>(?:[\s-](?:hundred|thousand|million|billion|hundert|tausend))*)(?P<unit>[\s-][^\W\d_]+)?",
    re.IGNORECASE,
)
_WIDE_NUMERAL = re.compile(
    r"(?P<word>[零一二三四五六七八九两十百千万亿]+)(?P<unit>个月|[天年月日元个人次份张件倍岁小分周])"
)
_IDENTIFIER = re.compile(r"\b[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*")
_CAMEL = re.compile(r"[a-z]+[A-Z]\w*")
_CAPITAL = r"(?:[A-ZÄÖÜÉÀ][\w’'&.-]*\w|[A-Z]\b\.?)"
_NAME = re.compile(rf"{_CAPITAL}(?: (?:(?:of|de|von|van|der|da|del|la|&) )?{_CAPITAL})*")
_NO_NAMES = STOP_WORDS | _MONTHS.keys() | _DAYS.keys() | _NUMERALS.keys()


class Fact(Struct, frozen=True, kw_only=True):
    """A figure, a date or a name in a text: offsets in characters, `end` excluded.

    Attributes:
        values: What it may stand for.
        unit: Of a figure: what it counts, as a stem; empty for none.
        text: As it stands there.
    """

    kind: FactKind
    start: int
    end: int
    text: str
    values: frozenset[str]
    unit: str = ""

    def agrees(self, other: "Fact") -> bool:
        """Whether both may stand for the same."""
        if self.kind != other.kind:
            return False
        if self.kind == "date":
            return any(_are_same_day(a, b) for a in self.values for b in other.values)
        if self.kind == "name":
            return any(_is_same_name(a, b) for a in self.values for b in other.values)
        return bool(self.values & other.values)


def find_facts(text: str) -> list[Fact]:
    """The facts of a text, in order, without overlaps: dates first, then figures, then names."""
    facts: list[Fact] = []
    finders: Sequence[Callable[[str], Iterator[Fact]]] = (
        _find_dates,
        _find_identifiers,
        _find_figures,
        _find_names,
    )
    for find in finders:
        for fact in find(text):
            if not _overlaps(fact, facts):
                facts.append(fact)
    return sorted(facts, key=_start)


def _start(fact: Fact) -> int:
    return fact.start


def _overlaps(fact: Fact, facts: Sequence[Fact]) -> bool:
    return any(fact.start < other.end and other.start < fact.end for other in facts)


def _find_dates(text: str) -> Iterator[Fact]:
    for match in _DATE.finditer(text):
        values = _read_date(match)
        if values:
            yield _make("date", match.start(), match.end(), text, values)
    for match in _MONTH_ALONE.finditer(text):
        group = 1 if match.group(1) else 2
        month = _MONTHS[match.group(group).casefold()]
        yield _make("date", match.start(group), match.end(group), text, [f"?-{month}-?"])


def _make(
    kind: FactKind, start: int, end: int, text: str, values: Sequence[str], unit: str = ""
) -> Fact:
    return Fact(
        kind=kind, start=start, end=end, text=text[start:end], values=frozenset(values), unit=unit
    )


def _read_date(match: re.Match[str]) -> list[str]:
    found = match.groupdict()
    if text := found["iso"] or found["wide"]:
        parts = [str(int(part)) for part in re.findall(r"\d+", text)]
        return ["-".join([*parts, "?", "?"][:3])]
    if text := found["slashes"]:
        first, second, year = (int(part) for part in re.findall(r"\d+", text))
        year += 2000 if year < 100 else 0
        pairs = {(first, second), (second, first)}
        return [f"{year}-{month}-{day}" for month, day in pairs if month <= 12 and day <= 31]
    if text := found["clock"]:
        return _read_clock(text)
    if text := found["weekday"]:
        name = text.casefold()
        return [f"day {_DAYS[name if name in _DAYS else name.removesuffix('s')]}"]
    month = found["month"] or found["month2"] or found["month3"]
    day = found["day"] or found["day2"] or "?"
    year = found["year"] or found["year2"] or found["year3"] or "?"
    return [f"{year}-{_MONTHS[month.casefold()]}-{int(day) if day != '?' else day}"]


def _read_clock(text: str) -> list[str]:
    hour, minute = (*(int(part) for part in re.findall(r"\d+", text)[:2]), 0)[:2]
    folded = text.casefold().replace(".", "")
    if "pm" in folded:
        hour = hour % 12 + 12
    elif "am" in folded:
        hour %= 12
    return [f"clock {hour}:{minute:02}"] if hour < 25 and minute < 60 else []


def _are_same_day(first: str, second: str) -> bool:
    if first == second:
        return True
    one, other = first.split("-"), second.split("-")
    if len(one) != 3 or len(other) != 3:
        return False
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if "?" not in {a, b}]
    return bool(pairs) and all(a == b for a, b in pairs)


def _find_figures(text: str) -> Iterator[Fact]:
    for match in _FIGURE.finditer(text):
        number, unit = match["number"], match["unit"] or ""
        has_unit = bool(unit.strip(" -")) and not match["ordinal"]
        scale = _SCALES.get((match["scale"] or "").strip(".").casefold(), 1)
        values = [_write(value * scale) for value in _read_number(number)]
        word = unit.strip(" -").casefold()
        currency = (match["currency"] or "").strip()
        named = _UNITS.get(currency) or (_unit(word) if has_unit else "")
        end = match.end("scale") if match["scale"] else match.end("number")
        if has_unit and word in _UNITS:
            end = match.end("unit")
        if values:
            yield _make("figure", match.start(), max(end, match.end("number")), text, values, named)
    for match in _NUMERAL.finditer(text):
        value = _read_numeral(match["word"], match["scale"])
        unit = (match["unit"] or "").strip(" -").casefold()
        if match["word"].casefold() in {"one", "a", "sept", "mars"} and not match["scale"]:
            continue
        end = match.end("scale") if match["scale"] else match.end("word")
        yield _make("figure", match.start(), end, text, [_write(value)], _unit(unit))
    for match in _WIDE_NUMERAL.finditer(text):
        value = _read_wide(match["word"])
        yield _make(
            "figure", match.start(), match.end("word"), text, [_write(value)], _unit(match["unit"])
        )


def _unit(word: str) -> str:
    if not word or word in STOP_WORDS:
        return ""
    known = _UNITS.get(word)
    if known:
        return known
    return word[:1] if "\u3040" <= word[:1] <= "\u9fff" else stem(word)


def _read_number(text: str) -> list[float]:
    """What a number with marks of thousands or decimals may be."""
    sign = -1.0 if text[:1] in "-−" else 1.0
    plain = re.sub(r"['’\u00a0\u202f]", "", text.lstrip("-−+"))
    marks = re.findall(r"[.,]", plain)
    if not marks:
        readings = [plain]
    elif len(set(marks)) == 2:
        last = marks[-1]
        other = "," if last == "." else "."
        readings = [plain.replace(other, "").replace(last, ".")]
    elif len(marks) > 1:
        readings = [plain.replace(marks[0], "")]
    else:
        readings = [plain.replace(marks[0], ".")]
        if re.fullmatch(r"\d{1,3}[.,]\d{3}", plain):
            readings.append(plain.replace(marks[0], ""))
    values: list[float] = []
    for reading in readings:
        try:
            values.append(sign * float(reading))
        except ValueError:
            continue
    return values


def _read_numeral(word: str, scale: str) -> float:
    value = 0.0
    for part in re.split(r"[- ]", word.casefold()):
        value += _NUMERALS.get(part, 1)
    for part in re.split(r"[\s-]+", scale.strip(" -").casefold()):
        value *= _SCALES.get(part, 1)
    return value


def _read_wide(text: str) -> float:
    total = current = 0.0
    for character in text:
        if character in _WIDE_DIGITS:
            current = _WIDE_DIGITS[character]
            continue
        scale = 10 if character == "十" else _SCALES[character]
        if scale >= 1e4:
            total, current = (total + current) * scale, 0
        else:
            total, current = total + (current or 1) * scale, 0
    return total + current


def _write(value: float) -> str:
    return f"{value:.10g}"


def _find_identifiers(text: str) -> Iterator[Fact]:
    for match in _IDENTIFIER.finditer(text):
        word = match.group()
        if word.isalpha() and not _CAMEL.fullmatch(word):
            continue
        if not any(character.isdigit() for character in word) and not _CAMEL.fullmatch(word):
            continue
        yield _make("name", match.start(), match.end(), text, [match.group().casefold()])


def _find_names(text: str) -> Iterator[Fact]:
    for match in _NAME.finditer(text):
        start, words = match.start(), match.group().split(" ")
        while words and words[0].casefold().strip(".") in _NO_NAMES:
            start += len(words[0]) + 1
            words = words[1:]
        name = " ".join(words)
        if len(name) < 2 or (_begins_sentence(text, start) and _is_plain(name)):
            continue
        values = [name.casefold().replace("’", "'").removesuffix("'s").strip(".")]
        yield _make("name", start, start + len(name), text, values)


def _begins_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \"'“„*_(|-")
    return not before or before[-1] in ".!?:\n。！？"


def _is_plain(name: str) -> bool:
    """Whether only its first letter makes it look like a name."""
    return name[1:].islower() and name.isalpha()


def _is_same_name(first: str, second: str) -> bool:
    """Whether one is the other, a part of it, or its initials."""
    if first == second:
        return True
    one, other = (re.findall(r"\w+", name) for name in (first, second))
    if not one or not other or _is_part(one, other) or _is_part(other, one):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) == 1 and short[0] == "".join(word[0] for word in long)


def _is_part(short: Sequence[str], long: Sequence[str]) -> bool:
    return all(any(_is_short_for(word, full) for full in long) for word in short)


def _is_short_for(word: str, full: str) -> bool:
    return stem(word) == stem(full) or (len(word) == 1 and full.startswith(word) and full.isalpha())
