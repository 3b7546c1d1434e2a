"""The functions that every framework makes a tool of, and the JSON that a model would send."""

from pydantic import BaseModel


class Line(BaseModel):
    sku: str
    quantity: int
    price: float


class Order(BaseModel):
    customer: str
    lines: list[Line]
    express: bool = False


def count_letter(word: str, letter: str) -> int:
    """Count occurrences of a letter in a word.

    Args:
        word: Where to look.
        letter: What to look for; one character.
    """
    return word.count(letter)


async def find_letter(word: str, letter: str) -> int:
    """Find the first occurrence of a letter in a word.

    Args:
        word: Where to look.
        letter: What to look for; one character.
    """
    return word.find(letter)


async def add_up(order: Order) -> float:
    """Add up what an order costs.

    Args:
        order: What is bought.
    """
    return sum(line.quantity * line.price for line in order.lines)


FUNCTIONS = (count_letter, find_letter, add_up)

LETTER = '{"word": "strawberry", "letter": "r"}'
ORDER = (
    '{"order": {"customer": "Ann", "express": true, "lines": ['
    '{"sku": "pear", "quantity": 2, "price": 1.5}, {"sku": "fig", "quantity": 1, "price": 9.0}]}}'
)
ARGUMENTS = {"count_letter": LETTER, "find_letter": LETTER, "add_up": ORDER}
EXPECTED = {"count_letter": 3, "find_letter": 2, "add_up": 12.0}
