"""Agents that people have added, and the rules for agents, bases and models that they add."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pegboard.core.ports.accounts.resource_store import ResourceKind, StoredResource
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, InvalidRequest
from pegboard.features.agents.service import AUTO
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.agents import AgentEntry
from pegboard.runtime.board_file.language_models import ROLES
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.config_fault import describe_fault
from pegboard.runtime.model_config import read_model_config

if TYPE_CHECKING:
    from pegboard.features.agents import ModelChoices

_LOG = logging.getLogger("pegboard.resources")
_OWN_FIELDS = frozenset({"name", "description"})


class OwnedAgents:
    """Finds the agents that a caller may choose among the stored resources.

    Args:
        registry: Its environment knows who may see which resources.
    """

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry

    def __call__(self, principal: Principal) -> Sequence[AgentEntry]:
        """The agents that a caller may see, by name."""
        index = self._registry.environment.resource_index
        entries = map(_to_entry, index.list_visible(principal, "agent"))
        return [entry for entry in entries if entry is not None]


class OwnedRules:
    """The rules for agents, knowledge bases and models that people add.

    Args:
        loaded: Returns the board file in force.
        models: Returns the models that callers may choose.
    """

    def __init__(
        self, loaded: Callable[[], LoadedBoard], models: "Callable[[], ModelChoices]"
    ) -> None:
        self._loaded = loaded
        self._models = models

    def is_taken(self, name: str, kind: ResourceKind) -> bool:
        """Whether a name is one of the board file, or means something else."""
        if kind == "model":
            return name in ROLES or self._models().is_name_of_board(name)
        if kind not in {"agent", "knowledge"}:
            return False
        if kind == "knowledge":
            return any(entry.name == name for entry in self._loaded().board.knowledge)
        return name == AUTO or any(entry.name == name for entry in self._loaded().board.agents)

    def check(self, kind: ResourceKind, config: Mapping[str, Any], *, principal: Principal) -> None:
        """Check a configuration.

        Raises:
            InvalidRequest: It is wrong.
            ModelNotConfigured: The model of an agent is none that the caller may choose.
            AccessDenied: Only operators add models here.
        """
        if kind == "knowledge":
            from pegboard.features.knowledge.bases import check_base_config

            check_base_config(config)
        elif kind == "model":
            if not self._loaded().board.models.of_people and not principal.is_operator:
                raise AccessDenied("models", "only operators add language models here")
            read_model_config(config)
        else:
            self._check_agent(config, principal)

    def _check_agent(self, config: Mapping[str, Any], principal: Principal) -> None:
        if own := _OWN_FIELDS & config.keys():
            raise InvalidRequest(f"config.{min(own)}: it is a field of the resource itself")
        try:
            entry = AgentEntry.model_validate({**config, "name": "agent"})
        except ValidationError as error:
            raise InvalidRequest(f"config.{describe_fault(error)}") from error
        self._models().resolve_name(entry.model, principal=principal)


def _to_entry(resource: StoredResource) -> AgentEntry | None:
    """The agent of a resource; None for one that another version has stored."""
    fields = {**resource.config, "name": resource.name, "description": resource.description}
    try:
        return AgentEntry.model_validate(fields)
    except ValidationError as error:
        _LOG.warning("agent '%s': cannot be read: %s", resource.name, describe_fault(error))
        return None
