"""Every room says what it is for, and siblings look alike."""

import re

import pytest
from tests.shape import tree

SECTIONS = ("For", "May import", "Contracts", "How to add one", "Not here", "Read first")
SOURCE_FILES = {"__init__.py", "config.py", "source.py", "README.md"}
OTHER_SOURCE_FOLDERS: dict[str, str] = {}

ROOMS = [tree.ROOT, *(room for room in tree.rooms() if room.is_dir())]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_room_has_a_short_guide_with_all_sections(room: tree.Path) -> None:
    guide = room / "AGENTS.md"
    assert guide.is_file(), f"{tree.name(room)} has no AGENTS.md"

    text = guide.read_text(encoding="utf-8")
    missing = [
        section
        for section in SECTIONS
        if not re.search(rf"^(#+ |\*\*){section}\b", text, re.MULTILINE)
    ]

    assert missing == []
    assert tree.length(guide) <= 40


def test_source_folders_have_the_same_files() -> None:
    unlike = [
        folder.name
        for folder in tree.source_kinds()
        if not {entry.name for entry in folder.iterdir()} >= SOURCE_FILES
    ]

    assert tree.ratchet(unlike, OTHER_SOURCE_FOLDERS) == []


def test_every_kind_of_source_is_an_entry_point() -> None:
    project = (tree.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = project.partition('[project.entry-points."pegboard.sources"]')[2].partition("\n[")[0]
    declared = dict(re.findall(r'^(\w+) = "([\w.]+:KIND)"$', table, re.MULTILINE))

    assert declared == {
        folder.name: f"pegboard.sources.{folder.name}:KIND" for folder in tree.source_kinds()
    }
