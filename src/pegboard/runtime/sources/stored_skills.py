"""The skills that people have stored, as tools of the board."""

import logging
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pegboard.core.ports.accounts.resource_store import StoredResource
from pegboard.core.skill import Skill, skill_of
from pegboard.errors import InvalidRequest, PegboardError
from pegboard.registry import ToolRegistry
from pegboard.runtime.config_fault import describe_fault

if TYPE_CHECKING:
    from pegboard.core.tool import Tool

_LOG = logging.getLogger("pegboard.resources")


class SkillConfig(BaseModel):
    """The configuration of a stored skill."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: Annotated[
        dict[str, str], Field(description="Its texts by their paths, `SKILL.md` among them.")
    ]


class StoredSkills:
    """Puts stored skills on the board, each as a source with the one tool that reads it.

    Args:
        registry: The board's tools.
    """

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry
        self._rows: dict[str, StoredResource] = {}
        self._tools: dict[str, str] = {}

    @property
    def names(self) -> Collection[str]:
        """The names of all stored skills."""
        return self._rows.keys()

    def is_name_of_other(self, name: str) -> bool:
        """Whether a skill of the board file is known to models by this name."""
        found = (skill_of(tool) for tool in self._registry)
        return any(skill is not None and skill.name == name for skill in found)

    def drop(self, *, keep: Mapping[str, StoredResource]) -> None:
        """Take the skills off the board that are gone or changed."""
        for name, row in list(self._rows.items()):
            now = keep.get(name)
            if now is None or (now.id, now.config) != (row.id, row.config):
                del self._rows[name]
                if tool := self._tools.pop(name, ""):
                    self._registry.remove(tool)

    def publish(self, rows: Mapping[str, StoredResource]) -> None:
        """Put the skills on the board that are new or changed."""
        for name, row in rows.items():
            if name not in self._rows:
                self._rows[name] = row
                self._add(row)

    def _add(self, row: StoredResource) -> None:
        try:
            tool = _make_tool(row.name, row.config)
            self._tools[row.name] = self._registry.add(tool).spec.name
        except PegboardError as error:  # stored by another version
            _LOG.warning("skill '%s': cannot be used: %s", row.name, error.message)


def check_skill(name: str, config: Mapping[str, Any]) -> Skill:
    """Check the configuration of a skill; returns what its `SKILL.md` says.

    Raises:
        InvalidRequest: It is wrong.
    """
    from pegboard.sources.skills.stored_skill import check_stored_skill

    found = check_stored_skill(name, _read_files(config))
    if found.problem:
        raise InvalidRequest(found.problem)
    return found.skill


def _make_tool(name: str, config: Mapping[str, Any]) -> "Tool":
    from pegboard.sources.skills.stored_skill import StoredSkill

    return StoredSkill(name, _read_files(config))


def _read_files(config: Mapping[str, Any]) -> Mapping[str, str]:
    try:
        return SkillConfig.model_validate(config).files
    except ValidationError as error:
        raise InvalidRequest(f"config.{describe_fault(error)}") from None
