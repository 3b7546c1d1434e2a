"""Names and titles that people give: no character in them is hidden or reorders the text."""

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
        if _is_hidden(char, given[at - 1] if at else ""):
            raise InvalidRequest(
                f"The {subject} has a character that is not shown or changes the direction of "
                f"the text: U+{ord(char):04X}."
            )
    return " ".join(given.split())


def clean_display_text(text: str) -> str:
    """A name that another system gave, without the characters that `check_display_text` refuses."""
    kept = (
        char if not _is_hidden(char, text[at - 1] if at else "") else " " if char.isspace() else ""
        for at, char in enumerate(text)
    )
    return " ".join("".join(kept).split())


def _is_hidden(char: str, before: str) -> bool:
    if char.isascii():
        return not char.isprintable()
    if _EMOJI.match(char) and before and unicodedata.category(before) == "So":
        return False
    return char in _INVISIBLE or unicodedata.category(char) in _REFUSED
