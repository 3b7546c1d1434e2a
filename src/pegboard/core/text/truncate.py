"""Truncation of foreign texts before they are shown, stored or sent."""


def truncate(text: str, most: int) -> str:
    """Cut a text to `most` characters, with an ellipsis at the end."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
