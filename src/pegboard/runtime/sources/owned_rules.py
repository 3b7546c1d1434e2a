"""The rules for what people add beside connectors and skills."""

from collections.abc import Mapping
from typing import Any, Protocol

from pegboard.core.ports.accounts.resource_store import ResourceKind
from pegboard.core.principal import Principal


class OtherRules(Protocol):
    """The rules for agents, knowledge bases and models that people add."""

    def is_taken(self, name: str, kind: ResourceKind) -> bool:
        """Whether something that a person adds may not have this name."""
        ...

    def check(self, kind: ResourceKind, config: Mapping[str, Any], *, principal: Principal) -> None:
        """Check a configuration.

        Raises:
            CallerError: It is wrong, or the caller may not add one.
        """
        ...
