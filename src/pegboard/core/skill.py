"""Skills: instructions in folders, which a model reads when it needs them."""

from dataclasses import dataclass

from pegboard.core.tool import Tool

SKILLS = "skills"
"""The `handler` of the tool that reads a skill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """What a `SKILL.md` says.

    Attributes:
        name: As its front matter gives it.
        description: What it is for, and when to use it.
        text: The instructions, without the front matter.
        allowed_tools: Names and globs of the only tools that may be called while the skill is in
            force; None where it does not restrict them.
        files: The paths of the other files of its folder, by which they are read.
    """

    name: str
    description: str
    text: str
    allowed_tools: tuple[str, ...] | None = None
    files: tuple[str, ...] = ()


def skill_of(tool: Tool) -> Skill | None:
    """The skill that a tool reads; None for any other tool."""
    if tool.spec.handler != SKILLS:
        return None
    skill = getattr(tool, "skill", None)
    return skill if isinstance(skill, Skill) else None
