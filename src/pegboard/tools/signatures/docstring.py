"""Parsing of docstrings: the description, and the text of each parameter."""

import inspect
import re
from dataclasses import dataclass, field
from functools import cache
from textwrap import indent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docstring_parser.google import GoogleParser

_BEGINNING = "\0"
_GOOGLE_MARK = (":\n",)
_OTHER_MARKS = ("---", "\n:", "\n@")  # of NumPy, reST and Epydoc


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionDocs:
    """The content of a docstring.

    Attributes:
        description: The prose, without the sections.
        parameters: By parameter name.
    """

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def read_docstring(text: str | None) -> FunctionDocs:
    """Read Google, NumPy and reST style; a text of no style is all prose."""
    if not text or not text.strip():
        return FunctionDocs()
    text = inspect.cleandoc(text)
    is_google = not _has(text, _OTHER_MARKS)
    if is_google and not _has(text, _GOOGLE_MARK):
        return FunctionDocs(description=text)  # most are prose: do not load the parser for them
    from docstring_parser import ParseError, parse

    read = _google().parse if is_google else parse  # trying all styles takes three times as long
    try:
        doc = read(_add_beginning(text))
    except ParseError:
        return FunctionDocs(description=text)
    if not doc.meta:
        return FunctionDocs(description=text)
    parameters = {
        item.arg_name.lstrip("*"): " ".join((item.description or "").split()) for item in doc.params
    }
    description = (doc.description or "").removeprefix(_BEGINNING).strip()
    return FunctionDocs(description=description, parameters=parameters)


def _add_beginning(text: str) -> str:
    """The text, with a beginning before a section at its very top, which is taken for prose else.

    As the only section it has lost its indent; it gets one back.
    """
    first, _, rest = text.partition("\n")
    if not first.endswith(":"):
        return text
    inside = rest if re.search(r"^[ \t]", rest, re.MULTILINE) else indent(rest, "    ")
    return f"{_BEGINNING}\n\n{first}\n{inside}"


@cache
def _google() -> "GoogleParser":
    from docstring_parser.google import GoogleParser

    return GoogleParser()


def _has(text: str, marks: tuple[str, ...]) -> bool:
    return any(mark in f"\n{text}" for mark in marks)
