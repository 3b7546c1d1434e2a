"""The skills that were read restrict the calls that follow."""

import pytest
from tests.assembly.systems import a_skill, systems

from pegboard.core.graph import NodeState
from pegboard.core.run import NodeRun
from pegboard.engines.react.skills_in_force import SkillsInForce
from pegboard.registry.toolset import Toolset

SKILLS = (
    a_skill("bills", allowed_tools=("crm__*",)),
    a_skill("clocks", allowed_tools=("clock", "call_agent")),
    a_skill("nothing", allowed_tools=()),
)
TOOLSET = Toolset(registry=systems(*SKILLS), listed=())


def read(*names: str, state: NodeState = NodeState.COMPLETED) -> SkillsInForce:
    skills = SkillsInForce()
    for name in names:
        skills.note(NodeRun(id="x", state=state, tool=f"skills__{name}"), TOOLSET)
    return skills


@pytest.mark.parametrize(
    ("names", "allowed", "refused"),
    [
        ((), ["clock", "call_agent"], []),
        (("refunds",), ["clock", "call_agent"], []),
        (("bills",), ["crm__find_customer", "skills__clocks", "board__read_result"],
         ["clock", "call_agent", "billing__send_invoice"]),
        (("bills", "clocks"), ["crm__find_customer", "clock", "call_agent"], ["web_search"]),
        (("nothing",), ["skills__bills"], ["clock", "no_such_tool"]),
    ],
    ids=["none", "unrestricted", "one", "two", "no tool"],
)  # fmt: skip
def test_what_skills_allow(names: tuple[str, ...], allowed: list[str], refused: list[str]) -> None:
    skills = read(*names)

    assert [name for name in allowed if skills.refuse(name, TOOLSET)] == []
    assert [name for name in refused if not skills.refuse(name, TOOLSET)] == []


def test_the_reason_names_the_skills_and_what_they_allow() -> None:
    reason = read("bills", "clocks").refuse("web_search", TOOLSET)

    assert reason == ("the skills 'bills' and 'clocks' in force allow crm__*, clock, call_agent")


def test_a_skill_that_could_not_be_read_is_not_in_force() -> None:
    assert read("nothing", state=NodeState.FAILED).refuse("clock", TOOLSET) == ""
