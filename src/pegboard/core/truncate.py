"""Texts of others, kept short: what nobody would read need not be shown, stored or sent."""


def truncate(text: str, most: int) -> str:
    """At most so many characters, the last of them an ellipsis where something is cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
