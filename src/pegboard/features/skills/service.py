"""Lists and shows the skills of a board as one caller sees them."""

from typing import Any

from pegboard.access import may_know
from pegboard.assembly.tool_families import family_of, group_tools
from pegboard.core.principal import Principal
from pegboard.core.skill import skill_of
from pegboard.core.tool import Tool
from pegboard.errors import ToolNotFound
from pegboard.registry import ToolRegistry


def list_skills(registry: ToolRegistry, *, principal: Principal) -> list[dict[str, Any]]:
    """The skills that a caller may see, unusable ones included; by source and name."""
    groups = group_tools(registry, "skill", principal)
    tools = [tool for group in groups.values() for tool in group.values()]
    seen = [tool for tool in tools if _is_known(registry, tool, principal)]
    return [
        _summary(tool, registry)
        for tool in sorted(seen, key=lambda it: (it.spec.source, it.spec.name))
    ]


def find_skill(registry: ToolRegistry, name: str, *, principal: Principal) -> dict[str, Any]:
    """A skill with its text, by the name of its tool.

    Raises:
        ToolNotFound: There is no such skill, or the caller may not see it.
    """
    tool = registry.find(name)
    if tool is None or not (_is_skill(tool) and _is_known(registry, tool, principal)):
        raise ToolNotFound(name)
    skill = skill_of(tool)
    return {
        **_summary(tool, registry),
        "text": skill.text if skill else "",
        "files": list(skill.files) if skill else [],
    }


def _is_known(registry: ToolRegistry, tool: Tool, principal: Principal) -> bool:
    kit = registry.environment
    return may_know(principal, tool.spec, policy=kit.policy, switches=kit.switches)


def _is_skill(tool: Tool) -> bool:
    return family_of(tool) == "skill"


def _summary(tool: Tool, registry: ToolRegistry) -> dict[str, Any]:
    spec, skill = tool.spec, skill_of(tool)
    row = registry.environment.resource_index.find(spec.source, "skill")
    allowed = skill.allowed_tools if skill else None
    return {
        "tool": spec.name,
        "name": skill.name if skill else spec.action,
        "source": spec.source,
        "resource": "" if row is None else row.id,
        "description": skill.description if skill else "",
        "characters": len(skill.text) if skill else 0,
        "allowed_tools": None if allowed is None else list(allowed),
        "unavailable": spec.unavailable,
    }
