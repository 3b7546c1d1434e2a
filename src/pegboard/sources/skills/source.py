"""The source of skills."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.health import HEALTHY, Health
from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable
from pegboard.sources.skills.client import SKILL_FILE, find_folders, list_files, read_text
from pegboard.sources.skills.config import SkillsConfig
from pegboard.sources.skills.skill_file import read_skill_file
from pegboard.sources.skills.tools import BrokenSkill, ReadSkill


class SkillsSource:
    """The skills in some folders."""

    def __init__(self, name: str, config: SkillsConfig, services: Services) -> None:
        self.name = name
        self._config = config
        self._base_dir = services.base_dir
        self._problems: tuple[str, ...] = ()

    @property
    def problems(self) -> Sequence[str]:
        """What of the skills cannot be followed, as of the last listing."""
        return self._problems

    async def tools(self) -> Sequence[Tool]:
        """One tool for each skill; one that cannot be used says why, with file and line.

        Raises:
            SourceUnavailable: A folder cannot be read, or has no skills.
        """
        return await POOL.run(self._list, owner=self.name)

    async def health(self) -> Health:
        """Always healthy: skills are files."""
        return HEALTHY

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def on_change(self, notify: Callable[[], None]) -> None:
        """Do nothing: skills are read again when the board is reloaded."""

    def files(self) -> Sequence[Path]:
        """The `SKILL.md` of each skill."""
        try:
            folders = find_folders(self._config.paths, self._base_dir)
        except SourceUnavailable:
            return [self._base_dir / path for path in self._config.paths]
        return [folder / SKILL_FILE for folder in folders]

    def _list(self) -> list[Tool]:
        tools: dict[str, Tool] = {}
        problems: list[str] = []
        for folder in find_folders(self._config.paths, self._base_dir):
            tool, problem = self._read(folder)
            if problem:
                problems.append(problem)
            if tools.setdefault(tool.spec.name, tool) is not tool:
                problems.append(f"{folder.name}: another skill has this name already")
        self._problems = tuple(problems)
        return list(tools.values())

    def _read(self, folder: Path) -> tuple[Tool, str]:
        name = folder.resolve().name
        file = f"{name}/{SKILL_FILE}"
        try:
            found = read_skill_file(read_text(folder / SKILL_FILE, file), file, folder=name)
        except SourceUnavailable as error:
            return BrokenSkill(self.name, name, error.message), ""
        skill = replace(found.skill, files=tuple(list_files(folder)))
        return ReadSkill(self.name, skill, folder), found.problem


async def open_skills(name: str, config: SkillsConfig, services: Services) -> SkillsSource:
    """Open a source; skills are read when the tools are listed."""
    return SkillsSource(name, config, services)
