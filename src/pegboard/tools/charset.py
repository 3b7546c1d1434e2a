"""Decoding of foreign text by its declared character set."""

import codecs

_NO_CHARSETS = frozenset(
    {"punycode", "idna", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"}
)
"""Codecs of Python's that are no character set of any server. Decoding punycode takes time that
grows with the square of the length: minutes for a page of a few megabytes."""


def decode_text(content: bytes, charset: str) -> str:
    """Decode text; invalid bytes are replaced, and an unknown character set means UTF-8.

    Args:
        content: As it came.
        charset: The declared name; empty for none.
    """
    try:
        name = codecs.lookup(charset or "utf-8").name
        if name.replace("-", "_") not in _NO_CHARSETS:
            return content.decode(name, "replace").removeprefix("\ufeff")
    except (LookupError, ValueError):
        pass
    return content.decode("utf-8", "replace").removeprefix("\ufeff")
