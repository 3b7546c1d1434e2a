"""`SKILL.md` is read as the format says, and a fault names file and line."""

import pytest

from pegboard.errors import SourceUnavailable
from pegboard.sources.skills.skill_file import read_skill_file

WHOLE = """\
---
name: review
description: >
  Reviews
  code.
license: MIT
compatibility: Needs git.
metadata: {author: ada}
allowed-tools: git__diff, git__log read_*
---

# Review
"""


def test_the_front_matter_and_the_text() -> None:
    skill = read_skill_file(WHOLE.replace("\n", "\r\n"), "review/SKILL.md", folder="review").skill

    assert (skill.name, skill.description, skill.text) == ("review", "Reviews code.", "# Review")
    assert skill.allowed_tools == ("git__diff", "git__log", "read_*")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("---\nname", "name", r":1: begin with the front matter"),
        ("license: MIT", "licence: MIT", r":6: licence: Extra inputs"),
        ("license: MIT", "license: [", r":\d+: not valid YAML"),
        ("name: review", "name: Review", r":2: name: lower-case"),
        ("name: review", "name: re--view", r":2: name: lower-case"),
        ("name: review", "name: other", r":2: name: 'other' is not the name of its folder"),
        ("name: review\n", "", r":2: name: Field required"),
        ("description: >\n  Reviews\n  code.", "description: ' '", r":3: description: it is empty"),
        ("allowed-tools: git__diff, git__log read_*", "allowed-tools: [a]", r":9: allowed-tools"),
    ],
)
def test_a_fault_names_the_line(old: str, new: str, fault: str) -> None:
    with pytest.raises(SourceUnavailable, match=f"^review/SKILL.md{fault}"):
        read_skill_file(WHOLE.replace(old, new), "review/SKILL.md", folder="review")


def test_without_allowed_tools_nothing_is_restricted() -> None:
    text = "---\nname: a\ndescription: b\n---\n"

    assert read_skill_file(text, "a/SKILL.md", folder="a").skill.allowed_tools is None
