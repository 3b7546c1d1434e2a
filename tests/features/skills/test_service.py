"""What skills say, as one caller sees them."""

from pathlib import Path

import pytest
from tests.sources.skills.made import open_in, write_skill

from pegboard import ToolRegistry
from pegboard.core.principal import LOCAL
from pegboard.errors import ToolNotFound
from pegboard.features.skills import find_skill, list_skills
from pegboard.features.skills.schemas import SkillDetail, SkillList


@pytest.fixture
async def registry(tmp_path: Path) -> ToolRegistry:
    front = "description: Takes records back.\nallowed-tools: find_order"
    write_skill(tmp_path / "s" / "returns", "Find the order.", front=front)
    (tmp_path / "s" / "returns" / "damage.md").write_text("Ask for a picture.")
    write_skill(tmp_path / "s" / "broken", front="nothing: said")
    return ToolRegistry(await open_in(tmp_path, "s").tools())


async def test_a_skill_that_cannot_be_used_is_listed_with_its_fault(registry: ToolRegistry) -> None:
    found = SkillList.model_validate({"skills": list_skills(registry, principal=LOCAL)})

    broken, returns = found.skills
    assert "broken/SKILL.md" in broken.unavailable
    assert (returns.name, returns.allowed_tools) == ("returns", ["find_order"])


async def test_a_skill_is_found_by_its_tool_with_its_text_and_files(registry: ToolRegistry) -> None:
    skill = SkillDetail.model_validate(find_skill(registry, "house__returns", principal=LOCAL))

    assert (skill.text, skill.files) == ("Find the order.", ["damage.md"])


async def test_another_tool_is_no_skill(registry: ToolRegistry) -> None:
    with pytest.raises(ToolNotFound):
        find_skill(registry, "house__nothing", principal=LOCAL)
