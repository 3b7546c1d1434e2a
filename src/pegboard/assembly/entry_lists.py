"""Lists of what a meta-tool reaches, shortened fairly for its description."""

from collections.abc import Mapping

MAX_CHARACTERS = 4_000
"""Of one list in a description."""
_LEAST = 24
"""Characters of a text below which names stand alone."""


def list_entries(entries: Mapping[str, str], *, more: str, characters: int = MAX_CHARACTERS) -> str:
    """One line for each entry, with as much of its text as there is room for.

    Texts are shortened alike: none loses a character before it is longer than all shortened ones.
    Names are left out only where they alone exceed the room, and the last line counts them.

    Args:
        entries: Texts by name.
        more: How to see the entries that are left out.
        characters: The room.
    """
    texts = {name: " ".join(text.split()) for name, text in entries.items()}
    room = characters - sum(len(name) + 5 for name in texts)
    most = _share(sorted(map(len, texts.values())), room)
    is_whole = room >= 0 and all(len(text) <= most for text in texts.values())
    if most >= _LEAST or is_whole:
        return "\n".join(
            f"- {name}: {_shorten(text, most)}" if text else f"- {name}"
            for name, text in texts.items()
        )
    lines: list[str] = []
    for name in texts:
        characters -= len(name) + 3
        if characters < 0:
            break
        lines.append(f"- {name}")
    left_out = len(texts) - len(lines)
    return "\n".join([*lines, f"(and {left_out} more: {more})"] if left_out else lines)


def _share(lengths: list[int], room: int) -> int:
    """The length to which texts are shortened, so that together they fit the room."""
    for index, length in enumerate(lengths):
        share = room // (len(lengths) - index)
        if length > share:
            return max(share, 0)
        room -= length
    return lengths[-1] if lengths else 0


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
