"""The smallest program: one function, one registry, one call.

Run it with `python examples/letters.py`.
"""

from pegboard import ToolRegistry, tool


@tool(effect="read")
def letter_counter(word: str, letter: str) -> int:
    """Count occurrences of a letter in a word.

    Args:
        word: Where to look.
        letter: What to look for; one character.
    """
    return word.lower().count(letter.lower())


registry = ToolRegistry([letter_counter])
right = registry.call_sync("letter_counter", '{"word": "strawberry", "letter": "r"}')
wrong = registry.call_sync("letter_counter", {"word": "strawberry", "leter": "r"})
print(right.unwrap())
print(wrong.text)
