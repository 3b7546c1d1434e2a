"""`read_skill` leads to the tool of a skill, `call_agent` to another agent."""

from typing import Any

import pytest
from msgspec import json
from tests.assembly.made import names_of
from tests.assembly.systems import a_skill, disclose, resolve, route, systems

from pegboard.assembly import ToolModes
from pegboard.core.model_messages import ToolCall
from pegboard.errors import InvalidRequest
from pegboard.registry.toolset import Delegation

AGENTS = {"writer": "Writes letters.", "analyst": "Reads figures."}


@pytest.mark.parametrize(
    ("given", "arguments"),
    [({"name": "refunds"}, {}), ({"name": "skills__refunds", "path": "a.md"}, {"path": "a.md"})],
    ids=["by name", "by tool, a file"],
)
def test_read_skill_is_the_call_of_its_tool(given: Any, arguments: Any) -> None:
    routed = route(disclose(systems()), "read_skill", json.encode(given).decode())

    assert isinstance(routed, ToolCall)
    assert (routed.name, json.decode(routed.arguments)) == ("skills__refunds", arguments)


@pytest.mark.parametrize("agent", ["", "shop"], ids=["auto", "agent"])
def test_skills_are_described_whichever_agent_is_selected(agent: str) -> None:
    meta_tool = disclose(systems(), agent=agent).find_meta_tool("read_skill")

    assert meta_tool is not None
    assert "- refunds: How to do refunds." in meta_tool.render().description


def test_an_inline_skill_stands_in_the_instructions_unless_it_restricts_tools() -> None:
    registry = systems(a_skill("returns", "Be strict.", allowed_tools=("clock",)))

    toolset = resolve(registry, modes=ToolModes(skill="inline"))

    assert "## Skill: refunds\n\nDo it well." in toolset.instructions
    assert "Be strict." not in toolset.instructions
    [read_skill] = [item for item in toolset.meta_tools if item.name == "read_skill"]
    assert read_skill.entries == ("returns",)


def test_an_inline_skill_with_files_is_also_read() -> None:
    registry = systems(a_skill("returns", files=("form.md",)))

    toolset = resolve(registry, modes=ToolModes(skill="inline"))

    assert [item.entries for item in toolset.meta_tools if item.name == "read_skill"] == [
        ("returns",)
    ]


def test_call_agent_describes_each_agent_in_its_parameters() -> None:
    toolset = disclose(systems(), delegates=AGENTS)
    rendered = next(tool for tool in toolset.model_tools if tool.name == "call_agent")

    assert rendered.parameters["properties"]["agent_id"]["description"] == (
        "Which agent. There are:\n- writer: Writes letters.\n- analyst: Reads figures."
    )
    assert route(toolset, "call_agent", '{"agent_id": "writer", "task": "Write."}') == Delegation(
        agent="writer", task="Write."
    )


def test_a_selected_agent_calls_no_agent() -> None:
    assert "call_agent" not in names_of(disclose(systems(), agent="a", delegates=AGENTS).meta_tools)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("read_skill", {"name": "refund"}, "no skill 'refund'; did you mean 'refunds'"),
        ("read_skill", {"name": "clock"}, "no skill 'clock'"),
        ("read_skill", {}, "read_skill takes 'name'"),
        ("call_agent", {"agent_id": "wrter", "task": "x"}, "did you mean 'writer'"),
        ("call_agent", {"agent_id": "writer"}, "call_agent takes 'agent_id'"),
        ("call_agent", {"agent_id": "writer", "task": " "}, "what has to be done"),
    ],
)
def test_a_faulty_call_says_what_would_fit(name: str, given: Any, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        route(disclose(systems(), delegates=AGENTS), name, json.encode(given).decode())
