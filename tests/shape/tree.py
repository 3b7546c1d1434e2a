"""The repository as the shape tests see it: its files, its rooms, its syntax trees."""

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "pegboard"
TESTS = ROOT / "tests"
CODE = tuple(ROOT / name for name in ("src", "tests", "examples", "benchmarks", "docs"))
_MADE = {"node_modules", "__pycache__", "dist", "build"}
_HIDDEN_BUT_OURS = {".ci", ".gitignore"}


def files(*folders: Path, suffix: str = "") -> Iterator[Path]:
    """Every file of ours below these folders, in order; what tools make is left out."""
    for folder in folders:
        for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
            if _is_made(entry):
                continue
            if entry.is_dir():
                yield from files(entry, suffix=suffix)
            elif entry.name.endswith(suffix):
                yield entry


def modules() -> Iterator[Path]:
    """Every Python module of the distribution."""
    return files(SRC, suffix=".py")


def rooms() -> Iterator[Path]:
    """Every folder directly below the package that holds code."""
    return (entry for entry in sorted(SRC.iterdir()) if any(entry.glob("**/*.py")))


def source_kinds() -> Iterator[Path]:
    """Every folder with a kind of source in it."""
    return (entry for entry in sorted((SRC / "sources").iterdir()) if any(entry.glob("*.py")))


@functools.cache
def syntax(path: Path) -> ast.Module:
    """The module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def classes(path: Path) -> Iterator[ast.ClassDef]:
    """The classes at the top of a module."""
    return (node for node in syntax(path).body if isinstance(node, ast.ClassDef))


def name(path: Path) -> str:
    """How the tests' lists call a file: its path below the root, or below the package."""
    return path.relative_to(SRC if path.is_relative_to(SRC) else ROOT).as_posix()


def length(path: Path) -> int:
    """How many lines a file has."""
    return len(path.read_text(encoding="utf-8").splitlines())


def ratchet(found: Iterable[str], listed: Mapping[str, str]) -> list[str]:
    """What breaks a rule and is not listed, and what is listed and no longer breaks it."""
    offenders = set(found)
    return sorted(
        [f"{item}: breaks the rule" for item in offenders - set(listed)]
        + [
            f"{item}: keeps the rule by now, remove it from the list"
            for item in listed.keys() - offenders
        ]
        + [
            f"{item}: give the reason in a sentence"
            for item, why in listed.items()
            if len(why) < 20
        ]
    )


def _is_made(entry: Path) -> bool:
    hidden = entry.name.startswith(".") and entry.name not in _HIDDEN_BUT_OURS
    return hidden or entry.name in _MADE
