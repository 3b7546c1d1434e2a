"""The generated reference is what the code says now."""

from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from docs.generate import main, pages

from docs import generate

pytestmark = pytest.mark.timeout(180)  # the whole reference is written, by whatever has time


@pytest.fixture(autouse=True, scope="module")
def written_once() -> Generator[None]:
    """The pages are made from the code once for all that compares them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "pages", cache(pages))
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    main(["--folder", str(tmp_path)])
    return tmp_path


def test_the_reference_is_up_to_date() -> None:
    assert main(["--check"]) == 0, "run `make docs`"


def test_what_was_written_passes_the_check(folder: Path) -> None:
    assert main(["--check", "--folder", str(folder)]) == 0


def test_a_page_that_differs_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "errors.md").write_text("old")

    assert main(["--check", "--folder", str(folder)]) == 1
    assert capsys.readouterr().err == "errors.md is stale: run `make docs`\n"


def test_a_page_that_is_missing_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "README.md").unlink()

    assert main(["--check", "--folder", str(folder)]) == 1
    assert "README.md" in capsys.readouterr().err


def test_a_page_that_nobody_writes_any_more_is_removed(folder: Path) -> None:
    (folder / "gone.md").write_text("old")

    assert main(["--check", "--folder", str(folder)]) == 1
    assert main(["--folder", str(folder)]) == 0
    assert not (folder / "gone.md").exists()


@pytest.mark.slow
def test_the_index_names_every_page() -> None:
    written = generate.pages()

    assert all(f"({name})" in written["README.md"] for name in written.keys() - {"README.md"})


@pytest.mark.slow
def test_writing_twice_gives_the_same() -> None:
    assert pages() == generate.pages()


def test_services_are_shown_as_a_program_uses_them(folder: Path) -> None:
    text = (folder / "services.md").read_text(encoding="utf-8")

    assert "## Bases" in text
    assert "__init__" not in text.partition("## Bases")[2].partition("## StoredDocument")[0]
    assert "Conversations.send" in text
    assert "Conversations.recover" not in text
    assert "= _" not in text
