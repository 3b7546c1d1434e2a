"""More of what importing does is tested through the source that uses it."""

import os
import sys
from pathlib import Path

import pytest

from pegboard.errors import SourceUnavailable
from pegboard.tools.import_objects import find_object, import_file, import_module


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


def test_a_near_name_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match=r"has no 'dumsp'; did you mean 'dump'\?"):
        find_object("json:dumsp", tmp_path)


def test_a_part_that_an_installed_package_lacks_is_not_to_be_installed(tmp_path: Path) -> None:
    (tmp_path / "importing_lacks.py").write_text("import json.none")

    with pytest.raises(SourceUnavailable, match="and the 'json' that is installed has none"):
        import_module("importing_lacks", tmp_path)


def test_a_module_that_is_not_there_is_told_with_how_it_gets_there(tmp_path: Path) -> None:
    (tmp_path / "importing_needs.py").write_text("import no_such_package.part")

    with pytest.raises(SourceUnavailable) as caught:
        import_file(Path("importing_needs.py"), tmp_path)

    assert str(caught.value) == (
        "'importing_needs.py' needs the module 'no_such_package', which is not there: "
        "'pip install no_such_package', or put it into the board's folder"
    )
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_a_name_that_foreign_code_makes_up_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "importing_made_up.py").write_text(
        "raise ModuleNotFoundError('x', name='hunter2; rm -rf')"
    )

    with pytest.raises(SourceUnavailable, match=r"failed to import \(ModuleNotFoundError\)"):
        import_module("importing_made_up", tmp_path)


def test_a_file_is_imported_once(tmp_path: Path) -> None:
    (tmp_path / "importing_three.py").write_text("")

    first = import_file(Path("importing_three.py"), tmp_path)

    assert import_file(Path("importing_three.py"), tmp_path) is first


def test_what_a_module_raises_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "importing_four.py").write_text("raise RuntimeError('hunter2')")

    with pytest.raises(SourceUnavailable, match=r"\(RuntimeError\); the log says why") as caught:
        import_module("importing_four", tmp_path)

    assert caught.value.is_logged


def test_a_file_that_changes_twice_in_a_second_is_run_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path, seen = tmp_path / "importing_hasty.py", list[str]()
    for nanosecond, text in enumerate(("one", "two", "six")):
        path.write_text(f"TEXT = '{text}'\n")
        os.utime(path, ns=(0, 1_700_000_000_000_000_000 + nanosecond))
        seen += [import_file(path, tmp_path).TEXT, import_module(path.stem, tmp_path).TEXT]

    assert seen == ["one", "one", "two", "two", "six", "six"]
