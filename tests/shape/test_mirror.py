"""The tests mirror the modules: whoever changes one finds the other without searching.

The tests of `room/module.py` are in `tests/room/test_module.py`, or, where a behaviour spans
several modules, in a file of the same folder that imports the module by name.
"""

import ast
from pathlib import Path

from tests.shape import tree

TESTED_ELSEWHERE: dict[str, str] = {
    "cli/app.py": "tests/cli/test_commands.py",
    "cli/commands/call.py": "tests/cli/test_commands.py",
    "cli/commands/doctor.py": "tests/cli/test_commands.py",
    "cli/commands/explain.py": "tests/cli/test_commands.py",
    "cli/commands/history.py": "tests/cli/test_commands.py",
    "cli/commands/init.py": "tests/cli/test_commands.py",
    "cli/commands/serve.py": "tests/cli/test_serve.py",
    "cli/commands/show.py": "tests/cli/test_commands.py",
    "cli/commands/sources.py": "tests/cli/test_commands.py",
    "cli/commands/tools.py": "tests/cli/test_commands.py",
    "cli/options.py": "tests/cli/test_commands.py",
    "runtime/board_tools.py": "tests/runtime/test_pegboard.py",
    "runtime/opened.py": "tests/runtime/test_pegboard.py",
    "runtime/wiring/history.py": "tests/cli/test_commands.py",
    "runtime/wiring/listeners.py": "tests/runtime/test_pegboard.py",
    "runtime/wiring/metrics.py": "tests/runtime/test_pegboard.py",
    "runtime/wiring/network.py": "tests/runtime/test_pegboard.py",
    "runtime/wiring/storage.py": "tests/runtime/test_pegboard.py",
    "sources/functions/loading.py": "tests/sources/functions/test_source.py",
}
"""Module to the test file that covers it under another name."""

NOTHING_TO_RUN: dict[str, str] = {}
"""Module to the reason why no test of it could fail."""


def test_every_module_has_a_test_file_that_mirrors_it() -> None:
    alone = [
        tree.name(path)
        for path in tree.modules()
        if path.name not in {"__init__.py", "__main__.py"}
        and not _only_declares(tree.syntax(path))
        and not _mirrors(path)
    ]

    assert tree.ratchet(alone, _reasons()) == []


def test_what_is_tested_elsewhere_is_tested_there() -> None:
    missing = [file for file in TESTED_ELSEWHERE.values() if not (tree.ROOT / file).is_file()]

    assert missing == []


def _reasons() -> dict[str, str]:
    elsewhere = {module: f"its tests are in {file}" for module, file in TESTED_ELSEWHERE.items()}
    return elsewhere | NOTHING_TO_RUN


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
    """The tests of a folder; those of a room's subfolders may stand in the room's own."""
    room = tree.TESTS / folder.relative_to(tree.TESTS).parts[0] if folder != tree.TESTS else folder
    return [*folder.glob("test_*.py"), *room.glob("test_*.py")]


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
