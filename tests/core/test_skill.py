"""Whether a tool reads a skill."""

import pytest
from tests.assembly.systems import a_skill, of_source

from pegboard.core.skill import SKILLS, skill_of


def test_a_tool_that_reads_a_skill_has_it() -> None:
    tool = a_skill("refunds")

    assert skill_of(tool) is tool.skill


@pytest.mark.parametrize("handler", ["openapi", SKILLS])
def test_a_tool_of_another_kind_or_without_a_skill_has_none(handler: str) -> None:
    assert skill_of(of_source("skills", "refunds", handler)) is None
