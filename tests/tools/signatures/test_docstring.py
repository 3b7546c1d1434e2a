"""Docstrings of three styles say what a tool is for and what its parameters are."""

import subprocess
import sys

import pytest

from pegboard.tools.signatures.docstring import FunctionDocs, read_docstring

PARAMETERS = {"word": "Where to look, over two lines.", "letter": "What: to look for."}
DESCRIPTION = "Count letters.\n\nCase does not matter.\nNor do accents."

GOOGLE = """Count letters.

    Case does not matter.
    Nor do accents.

    Args:
        word: Where to look,
            over two lines.
        letter (str, optional): What: to look for.

    Returns:
        int: How many.

    Raises:
        ValueError: Never.
    """
NUMPY = """Count letters.

    Case does not matter.
    Nor do accents.

    Parameters
    ----------
    word : str
        Where to look,
        over two lines.
    letter : str, optional
        What: to look for.

    Returns
    -------
    int
        How many.
    """
REST = """Count letters.

    Case does not matter.
    Nor do accents.

    :param word: Where to look,
        over two lines.
    :param str letter: What: to look for.
    :returns: How many.
    :raises ValueError: Never.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "reST"])
def test_the_prose_and_the_parameters_are_read(text: str) -> None:
    assert read_docstring(text) == FunctionDocs(description=DESCRIPTION, parameters=PARAMETERS)


@pytest.mark.parametrize("text", [None, "", "  \n "], ids=repr)
def test_without_text_there_is_nothing(text: str | None) -> None:
    assert read_docstring(text) == FunctionDocs()


@pytest.mark.parametrize(
    "text",
    [
        "One line.",
        "Args: are explained elsewhere.",
        "Formats:\n- csv\n- json",
        "Two lines\nwith a colon: here.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "Reads it.\n\nFormats:\n  - csv\n  - json",
        "Odd.\n\nArgs:\n    word\n    letter: x",
    ],
)
def test_what_has_no_sections_is_all_prose(text: str) -> None:
    assert read_docstring(text) == FunctionDocs(description=text)


def test_sections_that_are_not_about_parameters_are_left_out() -> None:
    text = "Does it.\n\nExample:\n    >>> f(1)\n    2\n\nNote:\n    Slow."

    assert read_docstring(text) == FunctionDocs(description="Does it.")


def test_a_section_at_the_very_top_is_a_section() -> None:
    assert read_docstring("Args:\n    word: Where.") == FunctionDocs(parameters={"word": "Where."})


@pytest.mark.slow
def test_the_parser_is_loaded_only_for_sections() -> None:
    code = (
        "import sys; from pegboard.tools import as_tool\n"
        "def f(a: int):\n    'One line.'\n"
        "def g(a: int):\n    '''Two.\n\n    Args:\n        a: b\n    '''\n"
        "as_tool(f).spec.description; print('docstring_parser' in sys.modules)\n"
        "as_tool(g).spec.description; print('docstring_parser' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "True"]
