"""The step `skills and delegation`: `read_skill`, and in the mode *auto* `call_agent`."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from msgspec import Struct, convert, json, structs

from pegboard.assembly.entry_lists import list_entries
from pegboard.assembly.tool_families import family_of, find_visible, list_visible
from pegboard.assembly.tool_request import ToolRequest
from pegboard.core.model_messages import ModelTool, ToolCall
from pegboard.core.principal import Principal
from pegboard.core.skill import Skill, skill_of
from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.tool import Tool
from pegboard.errors import InvalidRequest
from pegboard.registry.toolset import Delegation, MetaTool, Routed, Toolset
from pegboard.schemas.strict_json import decode

READ_SKILL, CALL_AGENT = "read_skill", "call_agent"
_MAX_INLINE = 40_000
"""Characters of all inline skills; what is beyond is read by `read_skill`."""


class _SkillArguments(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    path: str = ""


class _AgentArguments(Struct, frozen=True, forbid_unknown_fields=True):
    agent_id: str
    task: str


def add_skills_and_delegation(toolset: Toolset, request: ToolRequest) -> Toolset:
    """Add `read_skill` and `call_agent` wherever they reach anything."""
    made = _add_skills(toolset, request)
    if not request.is_auto or not request.delegates:
        return made
    agents, principal = request.delegates, request.principal
    vouches = toolset.environment.resource_index.vouches_for_description
    others = (name for name in agents if not vouches(principal, name, "agent"))
    return made.replace(meta_tools=(*made.meta_tools, _agent_tool(agents, next(others, ""))))


def find_skills(toolset: Toolset, principal: Principal) -> dict[str, tuple[Tool, Skill]]:
    """The skills that a caller sees, by name; by the name of their tool where two share one."""
    tools = [
        tool
        for group in find_visible(toolset, principal, "skill").values()
        for _, tool in list_visible(toolset, principal, group)
    ]
    found: dict[str, tuple[Tool, Skill]] = {}
    for tool in tools:
        if (skill := skill_of(tool)) is not None:
            found[tool.spec.name if skill.name in found else skill.name] = (tool, skill)
    return found


def _add_skills(toolset: Toolset, request: ToolRequest) -> Toolset:
    skills = find_skills(toolset, request.principal)
    mode = request.modes.skill
    if not skills or mode == "direct":
        return toolset
    inline: dict[str, Skill] = {}
    room = _MAX_INLINE
    index = toolset.registry.environment.resource_index
    for name, (tool, skill) in skills.items() if mode == "inline" else ():
        # one that restricts tools is in force once it is read, and not before; one of another
        # person is untrusted text, which a run is known to have read
        is_own = index.is_vouched_for(request.principal, tool.spec.source)
        if is_own and skill.allowed_tools is None and len(skill.text) <= room:
            inline[name] = skill
            room -= len(skill.text)
    entries = {
        name: skill.description
        for name, (_, skill) in skills.items()
        if name not in inline or skill.files
    }
    made = toolset.replace(
        is_inner=_is_no_skill,
        instructions=_write_inline(inline) if inline else "",
    )
    if not entries:
        return made
    others = (
        tool.spec.source
        for name, (tool, _) in skills.items()
        if name in entries
        and not index.vouches_for_description(request.principal, tool.spec.source, "skill")
    )
    skill_tool = _skill_tool(entries, next(others, ""))
    return made.replace(meta_tools=(*made.meta_tools, skill_tool))


def find_untrusted_description(
    toolset: Toolset, principal: Principal
) -> tuple[Literal["skill", "agent"], str] | None:
    """What a model is shown that another person describes, as `skill` and `ada--refunds`."""
    for meta_tool in toolset.meta_tools:
        if meta_tool.untrusted:
            return "agent" if meta_tool.name == CALL_AGENT else "skill", meta_tool.untrusted
    vouches = toolset.environment.resource_index.vouches_for_description
    for tool in toolset.listed:
        if family_of(tool) == "skill" and not vouches(principal, tool.spec.source, "skill"):
            return "skill", tool.spec.source
    return None


def _is_no_skill(tool: Tool) -> bool:
    return family_of(tool) not in {"skill", "knowledge"}


def _write_inline(skills: Mapping[str, Skill]) -> str:
    parts = [f"## Skill: {name}\n\n{skill.text}" for name, skill in skills.items()]
    return "\n\n".join(["Follow these skills where they fit the message.", *parts])


def _skill_tool(entries: Mapping[str, str], untrusted: str) -> MetaTool:
    return MetaTool(
        name=READ_SKILL,
        render=lambda: _render_skills(entries),
        route=_route_skill,
        entries=tuple(entries),
        describe=lambda: entries,
        is_always_listed=True,
        untrusted=untrusted,
    )


def _agent_tool(agents: Mapping[str, str], untrusted: str) -> MetaTool:
    return MetaTool(
        name=CALL_AGENT,
        render=lambda: _render_agents(agents),
        route=partial(_route_agent, agents),
        entries=tuple(agents),
        describe=lambda: agents,
        is_always_listed=True,
        untrusted=untrusted,
    )


def _render_skills(entries: Mapping[str, str]) -> ModelTool:
    return ModelTool(
        name=READ_SKILL,
        description=(
            "Read a skill: instructions of the organisation for a kind of task. Read the one that "
            "fits before you begin. A `path` reads another file of its folder. There are:\n"
            f"{list_entries(entries, more='name one that you know of')}"
        ),
        parameters=_object_schema(
            {
                "name": {"type": "string", "description": "The name of the skill."},
                "path": {
                    "type": "string",
                    "description": "A file of the skill, as its text names it.",
                },
            },
            ["name"],
        ),
    )


def _render_agents(agents: Mapping[str, str]) -> ModelTool:
    listed = list_entries(agents, more="name one that you know of")
    return ModelTool(
        name=CALL_AGENT,
        description=(
            "Give a task to another agent, and get its answer. It sees the task and nothing of "
            "this conversation. Several calls in one turn run at the same time."
        ),
        parameters=_object_schema(
            {
                "agent_id": {"type": "string", "description": f"Which agent. There are:\n{listed}"},
                "task": {"type": "string", "description": "What it has to do, with all it needs."},
            },
            ["agent_id", "task"],
        ),
    )


def _object_schema(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _route_skill(toolset: Toolset, call: ToolCall, principal: Principal) -> Routed:
    """The call of the tool that reads the skill."""
    try:
        given = convert(decode(call.arguments or "{}"), _SkillArguments)
    except ValueError as error:
        raise InvalidRequest(f"read_skill takes 'name' and 'path': {error}.") from error
    skills = find_skills(toolset, principal)
    found = skills.get(given.name)
    if found is None:
        tool = toolset.find(given.name)
        if tool is None or family_of(tool) != "skill":
            hint = did_you_mean(given.name, skills, most=3)
            raise InvalidRequest(
                f"There is no skill '{given.name[:100]}'{f'; {hint}' if hint else '.'}"
            )
        name = tool.spec.name
    else:
        name = found[0].spec.name
    arguments = {"path": given.path} if given.path else {}
    return structs.replace(call, name=name, arguments=json.encode(arguments).decode())


def _route_agent(
    agents: Mapping[str, str], _toolset: Toolset, call: ToolCall, _principal: Principal
) -> Routed:
    try:
        given = convert(decode(call.arguments or "{}"), _AgentArguments)
    except ValueError as error:
        raise InvalidRequest(f"call_agent takes 'agent_id' and 'task': {error}.") from error
    if given.agent_id not in agents:
        hint = did_you_mean(given.agent_id, agents, most=3)
        raise InvalidRequest(
            f"There is no agent '{given.agent_id[:100]}'{f'; {hint}' if hint else '.'}"
        )
    if not given.task.strip():
        raise InvalidRequest("call_agent takes a 'task' that says what has to be done.")
    return Delegation(agent=given.agent_id, task=given.task)
