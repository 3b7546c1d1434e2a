"""Reading a docstring: the prose for the model, and what it says of each parameter."""

import inspect
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Docstring:
    """What a docstring says.

    Attributes:
        description: The prose, without the sections.
        parameters: By parameter name.
    """

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def read_docstring(text: str | None) -> Docstring:
    """Read Google, NumPy and reST style; a text of no style is all prose."""
    if not text or not text.strip():
        return Docstring()
    text = inspect.cleandoc(text)
    if not _may_have_sections(text):
        return Docstring(description=text)
    from docstring_parser import ParseError, parse

    try:
        doc = parse(text)
    except ParseError:
        return Docstring(description=text)
    parameters = {
        item.arg_name.lstrip("*"): " ".join((item.description or "").split()) for item in doc.params
    }
    return Docstring(description=(doc.description or "").strip(), parameters=parameters)


def _may_have_sections(text: str) -> bool:
    """Most docstrings are prose: do not load the parser for them."""
    return "\n" in text and any(
        mark in text for mark in (":\n", "---", ":param", ":return", ":raise", ":type", "@param")
    )
