"""`SkillsInForce`: the skills that a model has read, and the tools to which they restrict it."""

from fnmatch import fnmatchcase

from pegboard.core.graph import NodeState
from pegboard.core.run import NodeRun
from pegboard.core.skill import skill_of
from pegboard.core.tool import ToolSpec
from pegboard.registry.toolset import Toolset

_READ_RESULT = "board__read_result"
"""Reads the further pages of a large result, as that of a long skill."""


class SkillsInForce:
    """The skills that were read for one answer; each is in force until the answer ends.

    Skills that state no `allowed-tools` restrict nothing. Of several that do, the tools of all are
    allowed together. Reading skills and stored results, and finding tools, is always allowed.
    """

    def __init__(self) -> None:
        self._allowed: dict[str, tuple[str, ...]] = {}

    def note(self, run: NodeRun, toolset: Toolset) -> None:
        """Note how a call has ended; one that has read a skill puts it in force."""
        if run.state is not NodeState.COMPLETED or not run.tool:
            return
        tool = toolset.registry.find(run.tool)
        skill = None if tool is None else skill_of(tool)
        if skill is not None and skill.allowed_tools is not None:
            self._allowed[skill.name] = skill.allowed_tools

    def refuse(self, name: str, toolset: Toolset) -> str:
        """Why a tool may not be called now; empty when it may.

        Args:
            name: Of the tool, or of the meta-tool `call_agent`.
            toolset: Where the tool is.
        """
        if not self._allowed or name == _READ_RESULT:
            return ""
        tool = toolset.registry.find(name)
        if tool is not None and skill_of(tool) is not None:
            return ""
        names = (name,) if tool is None else _names_of(tool.spec)
        patterns = [item for allowed in self._allowed.values() for item in allowed]
        if any(fnmatchcase(known, pattern) for known in names for pattern in patterns):
            return ""
        skills = " and ".join(f"'{item}'" for item in self._allowed)
        listed = ", ".join(patterns) or "no tool"
        word = "skill" if len(self._allowed) == 1 else "skills"
        return f"the {word} {skills} in force allow{'s' * (word == 'skill')} {listed}"


def _names_of(spec: ToolSpec) -> tuple[str, ...]:
    return tuple(filter(None, (spec.name, spec.registered_name, spec.alias)))
