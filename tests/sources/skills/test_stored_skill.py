"""A stored skill: texts by their paths, which are checked before they are stored."""

from typing import Any

import pytest

from pegboard import ToolContext
from pegboard.errors import InvalidRequest, ToolFailed
from pegboard.sources.skills.stored_skill import (
    MAX_BYTES,
    MAX_FILES,
    StoredSkill,
    check_stored_skill,
)

TEXT = "---\nname: refunds\ndescription: How to refund.\n---\nFind the order first.\n"


def with_tools(given: str) -> str:
    return TEXT.replace("\n---\nFind", f"\nallowed-tools: {given}\n---\nFind")


async def test_its_tool_reads_the_text_and_the_other_files() -> None:
    files = {"SKILL.md": TEXT, "references/damage.md": "Ask for a picture."}
    tool = StoredSkill("ada--refunds", files)

    assert (tool.spec.name, tool.spec.source) == ("ada--refunds__read", "ada--refunds")
    assert tool.spec.description == "How to refund."
    assert not tool.spec.trusted
    assert (tool.skill.name, tool.skill.files) == ("ada--refunds", ("references/damage.md",))
    assert await tool.run({}, ToolContext()) == (
        "Find the order first.\n\nFiles of this skill:\n- references/damage.md"
    )
    assert await tool.run({"path": "references/damage.md"}, ToolContext()) == "Ask for a picture."
    with pytest.raises(ToolFailed, match="The skill has no file"):
        await tool.run({"path": "../../etc/passwd"}, ToolContext())


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "../a.md",
        "a/../../b.md",
        "/etc/passwd",
        "a//b.md",
        "./a.md",
        "a/",
        "C:/a.md",
        "a\\..\\b.md",
        ".git/config",
        "a/.env",
        "a\x00b",
        "a\nb",
        "a\u202eb",
        "x" * 201,
        "\ud800",
    ],
)
def test_a_path_that_is_no_plain_name_within_the_skill_is_refused(path: str) -> None:
    with pytest.raises(InvalidRequest):
        check_stored_skill("refunds", {"SKILL.md": TEXT, path: "x"})


FAULTS: dict[str, tuple[str, dict[str, str]]] = {
    "no SKILL.md": ("A skill has a SKILL.md", {"a.md": TEXT}),
    "too many": ("at most 100 files", dict.fromkeys(map(str, range(10_000)), "x")),
    "too large": ("at most 256,000 bytes", {"SKILL.md": TEXT, "a.md": "x" * MAX_BYTES}),
    "a file as folder": ("a file and a folder", {"SKILL.md": TEXT, "a": "x", "a/b/c": "x"}),
    "no front matter": ("SKILL.md:1: begin with", {"SKILL.md": "hello"}),
    "another name": (
        "SKILL.md:2: name: 'refunds' is not the name of its folder, 'returns'",
        {"SKILL.md": TEXT},
    ),
    "too many patterns": ("at most 200 names", {"SKILL.md": with_tools("a* " * 201)}),
    "a long pattern": ("of 100 characters", {"SKILL.md": with_tools("a*" * 60)}),
    "no text": ("no text in UTF-8", {"SKILL.md": TEXT, "a.md": "\ud800"}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_files_that_are_no_skill_are_refused_with_the_reason(fault: str) -> None:
    message, files = FAULTS[fault]
    name = "ada--returns" if fault == "another name" else "ada--refunds"
    with pytest.raises(InvalidRequest, match=message):
        check_stored_skill(name, files)


def test_the_most_files_are_taken() -> None:
    files: dict[str, Any] = {f"{number}.md": "x" for number in range(MAX_FILES - 1)}

    assert check_stored_skill("refunds", {"SKILL.md": TEXT} | files).problem == ""


@pytest.mark.parametrize(
    ("name", "given", "allowed"),
    [
        (
            "ada--refunds",
            "shop__refund bob--shop__refund clock crm__* *",
            ("shop__refund", "bob--shop__refund", "clock", "crm__*", "*",
             "ada--shop__refund", "ada--crm__*"),
        ),
        ("refunds", "shop__refund", ("shop__refund",)),
    ],
    ids=["of a person", "of an operator"],
)  # fmt: skip
def test_tools_of_its_owner_are_allowed_by_their_short_names(
    name: str, given: str, allowed: tuple[str, ...]
) -> None:
    tool = StoredSkill(name, {"SKILL.md": with_tools(given)})

    assert tool.skill.allowed_tools == allowed
