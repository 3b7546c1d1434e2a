"""A source of skills: a tool for each folder, which reads its files and no others."""

from pathlib import Path
from typing import Any

import pytest
from skills_ref import validate
from tests.sources.skills.made import open_in, write_skill
from tests.storage.made import ROOT

from pegboard import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.skill import skill_of
from pegboard.errors import SourceUnavailable, ToolFailed
from pegboard.sources.skills import KIND
from pegboard.sources.skills.config import SkillsConfig
from pegboard.sources.skills.source import SkillsSource
from pegboard.sources.skills.tools import BrokenSkill
from pegboard.testing import SourceContract

SKILLS = ROOT / "examples" / "specialists" / "skills"


class TestSkillsSource(SourceContract):
    kind = KIND

    async def open_source(self) -> Source:
        return await KIND.open("house", SkillsConfig(paths=(SKILLS,)), Services())


async def read(source: SkillsSource, **arguments: Any) -> Any:
    [tool] = await source.tools()
    return await tool.run(arguments, ToolContext())


def test_the_example_skill_is_valid() -> None:
    assert validate(SKILLS / "refunds") == []


async def test_a_skill_is_read_with_its_files() -> None:
    [tool] = await open_in(SKILLS.parent, "skills").tools()
    text = await tool.run({}, ToolContext())
    damage = await tool.run({"path": "references/damage.md"}, ToolContext())
    skill = skill_of(tool)

    assert (tool.spec.name, tool.spec.effect.value) == ("house__refunds", "read")
    assert skill is not None
    assert skill.allowed_tools == ("shop__find_order", "shop__refund")
    assert text.startswith("# Refunds")
    assert text.endswith("Files of this skill:\n- references/damage.md")
    assert damage.startswith("# Damage")


@pytest.mark.parametrize("path", [".", "a"], ids=["the folder above", "the skill itself"])
async def test_a_path_is_a_skill_or_a_folder_of_skills(tmp_path: Path, path: str) -> None:
    write_skill(tmp_path / "a", "Text.")

    assert await read(open_in(tmp_path, path)) == "Text."


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "a/../../secret.txt", "/etc/passwd", "link.txt", "..\\secret.txt", "\x00",
     "no.txt", "sub"],
)  # fmt: skip
async def test_no_path_leads_out_of_a_skill(tmp_path: Path, path: str) -> None:
    folder = write_skill(tmp_path / "a")
    (folder / "sub").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")

    with pytest.raises(ToolFailed, match="has no file"):
        await read(open_in(tmp_path, "a"), path=path)


async def test_a_link_out_of_a_skill_and_hidden_files_are_not_listed(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "a", "Text.")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    (folder / "out").symlink_to("/etc/hosts")

    assert await read(open_in(tmp_path, "a")) == "Text."


async def test_a_broken_skill_says_why_and_leaves_the_others(tmp_path: Path) -> None:
    write_skill(tmp_path / "s" / "good")
    write_skill(tmp_path / "s" / "bad", front="descripton: x")

    bad, good = await open_in(tmp_path, "s").tools()

    assert isinstance(bad, BrokenSkill)
    assert skill_of(bad) is None
    assert bad.spec.unavailable.startswith("bad/SKILL.md:")
    assert good.spec.unavailable == ""


async def test_a_second_skill_of_a_name_is_reported(tmp_path: Path) -> None:
    write_skill(tmp_path / "s" / "a")
    write_skill(tmp_path / "t" / "a")
    source = open_in(tmp_path, "s", "t")

    assert len(await source.tools()) == 1
    assert list(source.problems) == ["a: another skill has this name already"]


async def test_what_allows_nothing_is_reported(tmp_path: Path) -> None:
    write_skill(tmp_path / "a", front="description: x\nallowed-tools: Bash(git *) read_file")
    source = open_in(tmp_path, "a")

    [tool] = await source.tools()

    skill = skill_of(tool)
    assert skill is not None
    assert skill.allowed_tools == ("read_file",)
    assert source.problems[0].startswith("a/SKILL.md:4: 'Bash(git *)' allows nothing")


@pytest.mark.parametrize("path", ["none", "."], ids=["no folder", "no skills"])
async def test_a_path_without_skills_is_a_fault_of_the_source(tmp_path: Path, path: str) -> None:
    source = open_in(tmp_path, path)

    with pytest.raises(SourceUnavailable, match=path):
        await source.tools()
