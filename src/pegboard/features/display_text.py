"""Names and titles that people give: no character in them is hidden or reorders the text.

The joiners without width are taken where they belong to the spelling: between letters of a cursive
script, as in Persian, and behind the virama of an Indic one (RFC 5892 A.1 and A.2, UAX #31 2.3.1).
"""

import re
import unicodedata

from pegboard.errors import InvalidRequest

_REFUSED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories: controls, format characters (bidirectional controls and characters without
width among them), surrogates, and separators of lines and paragraphs."""
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # joiners, fillers, and a blank pattern
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))  # variation selectors
)
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_JOINERS = frozenset({_NON_JOINER, _JOINER})
_MAX_MARKS = 16
"""Marks of one letter that are looked at."""
_EMOJI = re.compile("[\ufe0e\ufe0f]")
"""The selectors that show a symbol as text or as a picture."""


def check_display_text(text: str, subject: str) -> str:
    """Check a name or a title, and return it with single spaces.

    Args:
        text: What a person gave.
        subject: What it is, for the message: "name".

    Raises:
        InvalidRequest: It has a character that is not shown, or that changes the order of others.
    """
    given = text.strip()
    for at, char in enumerate(given):
        if _is_hidden(given, at):
            raise InvalidRequest(
                f"The {subject} has a character that is not shown or changes the direction of "
                f"the text: U+{ord(char):04X}."
            )
    return " ".join(given.split())


def clean_display_text(text: str) -> str:
    """A name that another system gave, without the characters that `check_display_text` refuses."""
    kept = (
        char if not _is_hidden(text, at) else " " if char.isspace() else ""
        for at, char in enumerate(text)
    )
    return " ".join("".join(kept).split())


def _is_hidden(text: str, at: int) -> bool:
    char, before = text[at], text[at - 1] if at else ""
    if char.isascii():
        return not char.isprintable()
    if _EMOJI.match(char) and before and unicodedata.category(before) == "So":
        return False
    if char in _JOINERS and _is_part_of_word(text, at):
        return False
    return char in _INVISIBLE or unicodedata.category(char) in _REFUSED


def _is_part_of_word(text: str, at: int) -> bool:
    """Whether a joiner stands where its script needs it, between letters without case.

    A joiner may also end a word, as that of a chillu in Malayalam; a non-joiner may not.
    """
    from idna import valid_contextj

    part = text[max(0, at - _MAX_MARKS) : at + 1 + _MAX_MARKS]
    at = min(at, _MAX_MARKS)
    if not _begins_with_letter(part[:at][::-1]) or not unicodedata.name(part[at - 1], ""):
        return False
    if part[at] == _NON_JOINER and not _begins_with_letter(part[at + 1 :]):
        return False
    return valid_contextj(part, at)


def _begins_with_letter(text: str) -> bool:
    """Whether the first character that is no mark is a letter without case."""
    for char in text:
        category = unicodedata.category(char)
        if not category.startswith("M"):
            return category == "Lo"
    return False
