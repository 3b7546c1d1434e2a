"""The ratchet itself: a rule that cannot fail would be no rule."""

import ast

from tests.shape import tree


def test_a_new_offender_is_named() -> None:
    assert tree.ratchet(["a.py"], {}) == ["a.py: breaks the rule"]


def test_an_exception_that_is_no_longer_needed_is_named() -> None:
    problems = tree.ratchet([], {"a.py": "the reason is a whole sentence"})

    assert problems == ["a.py: keeps the rule by now, remove it from the list"]


def test_an_exception_needs_a_reason() -> None:
    assert tree.ratchet(["a.py"], {"a.py": "because"}) == ["a.py: give the reason in a sentence"]


def test_a_listed_exception_with_its_reason_passes() -> None:
    assert tree.ratchet(["a.py"], {"a.py": "the reason is a whole sentence"}) == []


def test_the_tree_is_found() -> None:
    assert {"errors.py", "core/tool.py"} <= {tree.name(path) for path in tree.modules()}
    assert {"core", "tools"} <= {room.name for room in tree.rooms()}
    assert "Makefile" in {tree.name(path) for path in tree.files(tree.ROOT)}
    assert not any("__pycache__" in path.parts for path in tree.files(tree.ROOT))


def test_classes_are_read_from_the_syntax_tree() -> None:
    names = [node.name for node in tree.classes(tree.SRC / "core" / "ports" / "clock.py")]

    assert names == ["Clock", "SystemClock"]
    assert isinstance(tree.syntax(tree.SRC / "errors.py"), ast.Module)
