"""Files are short, say what they are for, and are named for what they hold."""

import ast
import re
from collections import Counter
from pathlib import Path

from tests.shape import tree

LONG_MODULES: dict[str, str] = {}
LONG_OTHER_FILES: dict[str, str] = {}
OTHER_INIT_FILES: dict[str, str] = {
    "__init__.py": "the front door imports its names on first use",
    "sources/builtin/__init__.py": "its lists of tools are made when they are first read",
}
VAGUE_NAMES = re.compile(r"_?(utils?|helpers?|managers?|common|base|misc)")


def test_a_module_has_at_most_500_lines() -> None:
    # `errors.py` is the tree of all errors, in one file on purpose
    modules = [path for path in tree.modules() if tree.name(path) != "errors.py"]
    long = [tree.name(path) for path in modules if tree.length(path) > 500]

    assert tree.ratchet(long, LONG_MODULES) == []


def test_a_test_example_or_script_has_at_most_500_lines() -> None:
    scripts = tree.files(*tree.CODE[1:], suffix=".py")
    long = [tree.name(path) for path in scripts if tree.length(path) > 500]

    assert tree.ratchet(long, LONG_OTHER_FILES) == []


def test_a_folder_has_at_most_25_modules() -> None:
    named = (path for path in tree.modules() if path.name != "__init__.py")
    counts = Counter(tree.name(path.parent) for path in named)

    assert {folder: count for folder, count in counts.items() if count > 25} == {}


def test_no_file_or_folder_has_a_name_that_says_nothing() -> None:
    vague = [
        tree.name(path)
        for path in tree.files(*tree.CODE, suffix=".py")
        if any(
            VAGUE_NAMES.fullmatch(part.removesuffix(".py")) for part in Path(tree.name(path)).parts
        )
    ]

    assert vague == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        tree.name(path)
        for path in tree.modules()
        if tree.syntax(path).body and not ast.get_docstring(tree.syntax(path))
    ]

    assert silent == []


def test_every_public_class_says_what_it_is_for() -> None:
    silent = [
        f"{tree.name(path)}:{node.name}"
        for path in tree.modules()
        for node in tree.classes(path)
        if not node.name.startswith("_") and not ast.get_docstring(node)
    ]

    assert silent == []


def test_an_init_file_only_exposes_names() -> None:
    busy = [
        tree.name(path)
        for path in tree.modules()
        if path.name == "__init__.py" and not all(map(_exposes, tree.syntax(path).body))
    ]

    assert tree.ratchet(busy, OTHER_INIT_FILES) == []


def _exposes(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, an import, `__all__`, or a source's `KIND`."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str())) | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Assign(
            targets=[ast.Name(id="KIND")], value=ast.Call(func=ast.Name(id="SourceKind"))
        ):
            return True
        case _:
            return False
