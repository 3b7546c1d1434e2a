"""The tests mirror the modules: whoever changes one finds the other without searching.

The tests of `room/module.py` are in `tests/room/test_module.py`, or, where a behaviour spans
several modules, in a file of the same room that imports the module by name.
"""

import ast
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from tests.shape import tree

TESTED_ELSEWHERE: dict[str, str] = {
    "cli/commands/serve.py": "tests/cli/test_serve.py",
    "cli/commands/*.py": "tests/cli/test_commands.py",
    "documents/read_script.py": "tests/documents/test_converter.py",
    "exports/langchain_tool.py": "tests/exports/test_frameworks.py",
    "runtime/board_tools.py": "tests/runtime/test_pegboard.py",
    "runtime/account_settings.py": "tests/runtime/test_settings.py",
    "runtime/board_parts.py": "tests/runtime/test_reload.py",
    "runtime/open_board.py": "tests/runtime/test_pegboard.py",
    "runtime/wiring/*.py": "tests/runtime/test_pegboard.py",
    "servers/http/dependencies.py": "tests/servers/http/test_app_factory.py",
    "servers/http/uvicorn_server.py": "tests/servers/http/test_server.py",
    "storage/migrations/versions/*.py": "tests/storage/test_migrate.py",
    "sources/script/tools.py": "tests/sources/script/test_source.py",
    "sources/functions/tools.py": "tests/sources/functions/test_source.py",
}
"""A glob over modules to the test file that drives them through what they are part of."""


def test_every_module_has_a_test_file_that_mirrors_it() -> None:
    alone = [
        name
        for name in _without_a_mirror()
        if not any(fnmatch(name, pattern) for pattern in TESTED_ELSEWHERE)
    ]

    assert alone == []


def test_the_list_of_what_is_tested_elsewhere_only_shrinks() -> None:
    without = _without_a_mirror()
    needless = [
        pattern
        for pattern in TESTED_ELSEWHERE
        if not any(fnmatch(name, pattern) for name in without)
    ]

    assert needless == []


def test_what_is_tested_elsewhere_is_tested_there() -> None:
    missing = [file for file in TESTED_ELSEWHERE.values() if not (tree.ROOT / file).is_file()]

    assert missing == []


@cache
def _without_a_mirror() -> list[str]:
    return [
        tree.name(path)
        for path in tree.modules()
        if path.name not in {"__init__.py", "__main__.py"}
        and not _only_declares(tree.syntax(path))
        and not _mirrors(path)
    ]


def _mirrors(path: Path) -> bool:
    inside = path.relative_to(tree.SRC)
    folder = tree.TESTS / inside.parent
    stem = path.stem.lstrip("_")
    dotted = ".".join(("pegboard", *inside.with_suffix("").parts))
    return (
        (folder / f"test_{stem}.py").is_file()
        or any(folder.glob(f"test_{stem}_*.py"))
        or any(dotted in _imports(file) for file in _test_files(folder))
    )


def _test_files(folder: Path) -> list[Path]:
    """The tests of the room that a folder belongs to, subfolders included."""
    inside = folder.relative_to(tree.TESTS)
    room = tree.TESTS / inside.parts[0] if inside.parts else tree.TESTS
    return sorted(room.rglob("test_*.py") if inside.parts else room.glob("test_*.py"))


@cache
def _imports(file: Path) -> set[str]:
    return {
        node.module
        for node in ast.walk(tree.syntax(file))
        if isinstance(node, ast.ImportFrom) and node.module
    }


def _only_declares(module: ast.Module) -> bool:
    """Whether a module holds nothing that runs: Protocols, values without methods, constants."""
    return not any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and _does(node)
        for node in ast.walk(module)
    )


def _does(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    if isinstance(function, ast.Lambda):
        return True
    return not all(
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        for statement in function.body
    )
