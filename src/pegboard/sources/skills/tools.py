"""A skill as a tool: it reads the instructions, or another file of the folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.context import ToolContext
from pegboard.core.skill import SKILLS, Skill
from pegboard.core.tool import Effect, ToolSpec
from pegboard.core.wire_names import wire_name
from pegboard.sources.skills.client import list_files, read_file

_INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "A file of the skill; by default its text."}
    },
    "additionalProperties": False,
}


class ReadSkill:
    """Reads one skill.

    Args:
        source: The name of the source.
        skill: What its `SKILL.md` says.
        folder: Its folder.
    """

    def __init__(self, source: str, skill: Skill, folder: Path) -> None:
        self.skill = skill
        self._folder = folder
        self._source = source
        self._spec = make_spec(source, skill.name).replace(description=skill.description)

    @property
    def spec(self) -> ToolSpec:
        """What it is."""
        return self._spec

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> str:
        """The text of the skill with the paths of its files, or the text of one of them.

        Raises:
            ToolFailed: The skill has no such file.
        """
        del ctx
        if path := str(arguments.get("path") or ""):
            return await POOL.run(lambda: read_file(self._folder, path), owner=self._source)
        files = await POOL.run(lambda: list_files(self._folder), owner=self._source)
        return write_text(self.skill.text, files)


class BrokenSkill:
    """Stands for a folder whose `SKILL.md` cannot be used; says why."""

    def __init__(self, source: str, name: str, reason: str) -> None:
        self._spec = make_spec(source, name).replace(unavailable=reason)

    @property
    def spec(self) -> ToolSpec:
        """What it is; unavailable."""
        return self._spec

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> str:
        """Never called: the tool is unavailable."""
        del arguments, ctx
        return self._spec.unavailable


def write_text(text: str, files: Sequence[str]) -> str:
    """The text of a skill with the paths of its files."""
    listed = "\n".join(["", "", "Files of this skill:", *(f"- {name}" for name in files)])
    return f"{text}{listed if files else ''}"


def make_spec(source: str, name: str) -> ToolSpec:
    """The tool that reads a skill."""
    return ToolSpec(
        name=wire_name(source, name),
        action=name,
        source=source,
        title=name,
        input_schema=_INPUT,
        category="skill",
        handler=SKILLS,
        effect=Effect.READ,
        idempotent=True,
    )
