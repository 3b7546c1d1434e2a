"""The examples in docstrings are Python."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, fences_of

SRC = ROOT / "src" / "pegboard"
_HAS_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@pytest.mark.slow
def test_every_example_compiles() -> None:
    for module in sorted(SRC.rglob("*.py")):
        for place, example in _examples(module):
            compile(example, place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_an_example_is_found_where_it_stands() -> None:
    places = [place for place, _ in _examples(SRC / "core" / "result.py")]

    assert places == ["result.py:ToolResult"]


def _examples(module: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, _HAS_DOCSTRING):
            for fence in fences_of(ast.get_docstring(node) or ""):
                if fence.language == "python":
                    yield f"{module.name}:{getattr(node, 'name', 'module')}", fence.body
