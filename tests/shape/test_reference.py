"""The reference lists everything that a user can meet, whatever wrote it."""

import inspect
import re

from tests.shape import tree

import pegboard
from pegboard import errors

REFERENCE = tree.ROOT / "docs" / "reference"


def test_every_error_code_is_listed() -> None:
    codes = [
        kind.code
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.PegboardError)
    ]

    assert _missing("errors.md", codes) == []


def test_every_public_name_is_described() -> None:
    text = (REFERENCE / "api.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^## (\w+)$", text, re.MULTILINE))
    linked = set(re.findall(r"`(\w+)`", text.partition("are [described here]")[0]))

    assert set(pegboard.__all__) - headings - linked == set()


def _missing(page: str, names: list[str]) -> list[str]:
    """The names that the page does not show as code."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    return [name for name in names if f"`{name}`" not in text]
