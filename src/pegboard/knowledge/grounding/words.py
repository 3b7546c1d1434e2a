"""The words of a text with where they stand, and the stems by which two texts are compared.

Stems are for comparing, not for reading: both sides lose the same endings. English and German
endings are known; Chinese, Japanese and Korean texts are compared by pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

_WIDE = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_NUMBER = r"\d+(?:[.,\u00a0\u202f'’]\d+)*"
_WORD = re.compile(
    rf"[{_WIDE}]+|{_NUMBER}(?:-?[^\W\d_{_WIDE}]+(?:[-.]?[^\W_{_WIDE}]+)*)?"
    rf"|[^\W\d_{_WIDE}]+(?:(?:['’]|-(?=\d))?[^\W_{_WIDE}]+)*"
)
_ASCII_WORD = re.compile(
    r"\d+(?:[.,']\d+)*(?:-?[A-Za-z]+(?:[-.]?[A-Za-z0-9]+)*)?"
    r"|[A-Za-z]+(?:(?:'|-(?=\d))?[A-Za-z0-9]+)*"
)
"""What `_WORD` finds in a text of ASCII, in half the time."""
_ENDINGS = (
    "ically", "ations", "ation", "ments", "ment", "ness", "ings", "ing", "edly", "ally",
    "ies", "ied", "ers", "al", "er", "ed", "es", "ly", "en", "em", "s", "e", "y",
)  # fmt: skip
_ENDINGS_BY_LETTER = {
    letter: tuple(ending for ending in _ENDINGS if ending[-1] == letter)
    for letter in {ending[-1] for ending in _ENDINGS}
}
"""By their last letter: most words end in none of these."""
_SURE = 2
"""Small words of a language, at least, by which it is known."""
_SHORTEST = 3
"""Letters that an ending leaves, at least."""

SMALL_WORDS: Mapping[str, frozenset[str]] = {
    "en": frozenset(
        re.findall(
            r"\w+",
            """
            back a about above after again all also am an and any are as at be because been before
            being below between both but by can could did do does doing done down during each
            either else even ever every few for from further generally get gets given go had has
            have having he hence her here hers him his how however hypothetically i if in into
            is it its itself just let like made make makes many may me might mine more most much
            must my of off on once one only onto or other our out over own per please possible
            possibly quite rather really said same say says shall she should since so some still
            such tell than that the their theirs them then there therefore these they this those
            though through thus to too typically under until up upon us usually very was we were
            what when where whether which while who whom whose why will with within would yet
            you your yours
            """,
        )
    ),
    "de": frozenset(
        re.findall(
            r"\w+",
            """
            aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist
            da dabei dafür damit dann das dass davon dazu dein dem den der des die dies diese
            diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er
            es etwas euch euer für gegen hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem
            ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann können könnte
            machen man mehr mein mich mir mit muss müssen nach noch nun nur ob oder ohne schon
            sehr sein seine seinem seinen seiner sich sie sind so soll sollen sollte sondern
            sonst um und uns unser unter vom von vor war waren warum was weil welche welchem
            welchen welcher welches wenn wer werde werden wie wieder wird wo wurde wurden zu zum
            zur zwischen über
            """,
        )
    ),
    "fr": frozenset(
        re.findall(
            r"\w+",
            """
            au aux avec ce ces cette combien comment dans de des du elle elles en est et eux il
            ils je la le les leur lui mais me mes même nous on où par pas plus pour pourquoi qu
            quand que quel quelle quelles quels qui sa se ses son sont sur ta te tu un une vos
            votre vous
            """,
        )
    ),
    "es": frozenset(
        re.findall(
            r"\w+",
            """
            a al como con cuando cuánto de del desde donde el ella ellos en entre era es esta
            este fue la las lo los me muy más no o para pero por que quién qué se sin son su sus
            también un una y ya
            """,
        )
    ),
}
"""Words that say nothing of what a text is about, by language."""
STOP_WORDS = frozenset[str]().union(*SMALL_WORDS.values()) - {"no", "sin"}

_WIDE_STOPS = frozenset("的了是在和与及或就都而着吗呢吧啊我你他她它们这那有为以可会能要请问么什")


class Word(Struct, frozen=True):
    """A word of a text: offsets in characters, `end` excluded.

    Attributes:
        text: As it stands there.
        stem: By which it is compared.
    """

    text: str
    stem: str
    start: int
    end: int

    @property
    def is_content(self) -> bool:
        """Whether it says what the text is about."""
        return _is_content(self.text)

    @property
    def is_figure(self) -> bool:
        """Whether it begins with a digit."""
        return self.text[:1].isdigit()


def find_words(text: str) -> list[Word]:
    """The words of a text, in order; a run of Chinese characters as its overlapping pairs."""
    return list(_find(text))


def list_stems(text: str) -> list[str]:
    """The stems of the words that say what a text is about, in order."""
    return [found for word in _list_words(text) if (found := _stem_content(word))]


def guess_language(text: str) -> str:
    """The language of a text as its code, by its script or its small words; empty if unclear."""
    if re.search(r"[\u3040-\u30ff]", text):
        return "ja"
    for code, script in (("zh", r"[\u4e00-\u9fff]"), ("ko", r"[\uac00-\ud7af]")):
        if re.search(script, text):
            return code
    words = [word.text.casefold() for word in _find(text)]
    counts = {code: sum(word in small for word in words) for code, small in SMALL_WORDS.items()}
    best = max(counts, key=lambda code: counts[code])
    others = max(count for code, count in counts.items() if code != best)
    return best if counts[best] >= _SURE and counts[best] > others else ""


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word without its ending, in lower case."""
    folded = unicodedata.normalize("NFKC", word).casefold().replace("’", "'")
    for ending in ("'s", "'"):
        folded = folded.removesuffix(ending)
    if folded[:1].isdigit() or not folded.isalpha():
        return folded
    while (shorter := _cut_ending(folded)) != folded:
        folded = shorter
    return folded


def _cut_ending(word: str) -> str:
    """A word without its last ending, or as it is: endings go until none is left to go."""
    for ending in _ENDINGS_BY_LETTER.get(word[-1:], ()):
        least = _SHORTEST + 1 if len(ending) > 2 else _SHORTEST
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word.removesuffix(ending)
    if len(word) > _SHORTEST and word[-1] == word[-2] and word[-1] != "l":
        return word[:-1]
    return word


def _find(text: str) -> Iterator[Word]:
    for match in _WORD.finditer(text):
        found, start = match.group(), match.start()
        if not _is_wide(found) or len(found) == 1:
            yield Word(found, stem(found), start, match.end())
            continue
        for at in range(len(found) - 1):
            pair = found[at : at + 2]
            yield Word(pair, pair, start + at, start + at + 2)


def _list_words(text: str) -> list[str]:
    """The words of a text as `find_words` has them, without their places."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    words: list[str] = []
    for found in _WORD.findall(text):
        if len(found) > 1 and _is_wide(found):
            words += (found[at : at + 2] for at in range(len(found) - 1))
        else:
            words.append(found)
    return words


@lru_cache(maxsize=20_000)
def _stem_content(word: str) -> str:
    """The stem of a word that says what a text is about; empty for another."""
    if not _is_content(word):
        return ""
    return word if len(word) > 1 and _is_wide(word) else stem(word)


def _is_content(word: str) -> bool:
    if _is_wide(word):
        return not (set(word) & _WIDE_STOPS)
    return word.casefold() not in STOP_WORDS and (len(word) > 1 or word[:1].isdigit())


def _is_wide(text: str) -> bool:
    return "\u3040" <= text[:1] <= "\u9fff" or "\uac00" <= text[:1] <= "\ud7af"
