"""Skills on the command line: a SKILL.md, a folder or a zip archive is added and replaced."""

import json
import zipfile
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from pegboard.cli.commands.accounts.skills.skill_files import read_skill_files, read_skill_name
from pegboard.errors import InvalidRequest

TEXT = "---\nname: refunds\ndescription: How to refund.\n---\nFirst.\n"
DATA = {"PEGBOARD_DATA": "data"}


def a_folder(parent: Path) -> Path:
    folder = parent / "refunds"
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text(TEXT)
    (folder / "references" / "damage.md").write_text("Ask for a picture.")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("hidden")
    (folder / "outside.md").symlink_to("/etc/passwd")
    return folder


def an_archive(path: Path, **files: bytes | str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_a_missing_skill_is_reported_once(pegboard: Command) -> None:
    added = pegboard("skills", "add", "nowhere", **DATA)

    assert added.stderr == "pegboard: nowhere cannot be read: No such file or directory.\n"


def test_a_skill_is_added_replaced_and_read(pegboard: Command, tmp_path: Path) -> None:
    folder = a_folder(tmp_path)
    added = pegboard("skills", "add", str(folder), **DATA)
    (folder / "SKILL.md").write_text(TEXT.replace("First", "Second"))
    replaced = pegboard("skills", "replace", "refunds", str(folder), **DATA)
    read = pegboard("call", "refunds__read", "--json", **DATA)
    listed = json.loads(pegboard("skills", "list", "--json", **DATA).stdout)["skills"]

    assert (added.stdout, replaced.stdout) == ("added: refunds\n", "replaced: refunds\n")
    assert "Second." in read.stdout
    assert "references/damage.md" in read.stdout
    assert [(item["name"], item["description"]) for item in listed] == [
        ("refunds", "How to refund.")
    ]


def test_hidden_files_and_links_of_a_folder_are_left_out(tmp_path: Path) -> None:
    files = read_skill_files(a_folder(tmp_path))

    assert files == {"SKILL.md": TEXT, "references/damage.md": "Ask for a picture."}
    assert read_skill_name(files) == "refunds"


def test_an_archive_is_read_as_the_folder_in_it(tmp_path: Path) -> None:
    given = {
        "refunds/SKILL.md": TEXT,
        "refunds/a/b.md": "b",
        "refunds/.DS_Store": "x",
        "__MACOSX/refunds/SKILL.md": "x",
    }
    found = read_skill_files(an_archive(tmp_path / "refunds.zip", **given))

    assert found == {"SKILL.md": TEXT, "a/b.md": "b"}


@pytest.mark.parametrize(
    "files",
    [
        {"SKILL.md": TEXT, "bomb.md": b"\0" * 100_000_000},
        {"SKILL.md": TEXT} | dict.fromkeys(map(str, range(10_000)), b"x"),
        {"SKILL.md": TEXT, "picture.png": b"\x89PNG\xff"},
    ],
    ids=["one that grows", "one of many files", "one with a picture"],
)
def test_an_archive_that_is_no_skill_is_refused(tmp_path: Path, files: dict[str, bytes]) -> None:
    archive = an_archive(tmp_path / "refunds.zip", **files)

    with pytest.raises(InvalidRequest, match=r"at most 1,000 files|text in UTF-8"):
        read_skill_files(archive)


@pytest.mark.parametrize("text", ["", "# Refunds\nname: x", "---\nnothing: here\n---\nname: x"])
def test_a_text_without_a_name_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="front matter has a name"):
        read_skill_name({"SKILL.md": text})
