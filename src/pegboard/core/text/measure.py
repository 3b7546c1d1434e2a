"""How long a text is for a model, before a provider has counted its tokens."""

BYTES_PER_UNIT = 3
"""Bytes of a unit, which is a token before the estimate is corrected: rather too few."""


def measure_text(text: str) -> int:
    """Units of a text."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return size // BYTES_PER_UNIT + 1
