"""More of what importing does is tested through the source that uses it."""

import sys
from pathlib import Path

import pytest

from pegboard.errors import SourceUnavailable
from pegboard.tools.importing import find_object, import_file, import_module


@pytest.fixture(autouse=True)
def path_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_an_object_is_found_by_its_reference(tmp_path: Path) -> None:
    (tmp_path / "importing_one.py").write_text("class Till:\n    total = 3\n")

    assert find_object("importing_one:Till.total", tmp_path) == 3


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("importing_two", "should be written 'package.module:name'"),
        ("importing_two:", "should be written 'package.module:name'"),
        ("importing_two:a", "there is no module 'importing_two'"),
        ("json:nothing", "'json' has no 'nothing'"),
    ],
)
def test_a_reference_that_leads_nowhere_says_why(
    tmp_path: Path, reference: str, reason: str
) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        find_object(reference, tmp_path)

    assert reason in str(caught.value)


def test_a_file_is_imported_once(tmp_path: Path) -> None:
    (tmp_path / "importing_three.py").write_text("")

    first = import_file(Path("importing_three.py"), tmp_path)

    assert import_file(Path("importing_three.py"), tmp_path) is first


def test_what_a_module_raises_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "importing_four.py").write_text("raise RuntimeError('hunter2')")

    with pytest.raises(SourceUnavailable, match=r"\(RuntimeError\); the log says why"):
        import_module("importing_four", tmp_path)
