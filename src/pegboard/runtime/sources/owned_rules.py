"""The rules for what people add beside connectors."""

from collections.abc import Mapping
from typing import Any, Protocol

from pegboard.core.ports.resource_store import ResourceKind


class AgentRules(Protocol):
    """The rules for agents and knowledge bases that people add."""

    def is_taken(self, name: str, kind: ResourceKind) -> bool:
        """Whether an agent or a base of a person may not have this name."""
        ...

    def check_base(self, config: Mapping[str, Any]) -> None:
        """Check the configuration of a knowledge base.

        Raises:
            CallerError: It is wrong.
        """
        ...

    def check(self, config: Mapping[str, Any]) -> None:
        """Check a configuration.

        Raises:
            CallerError: It is wrong.
        """
        ...
