"""What the service needs of the sources behind connectors; `runtime` has it."""

from dataclasses import dataclass
from typing import Protocol

from pegboard.core.ports.accounts.resource_store import ResourceKind, StoredResource
from pegboard.core.principal import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorReport:
    """The state of the source of a connector.

    Attributes:
        status: `pending` until a call has opened it, `ok`, `degraded` or `failed`.
        reason: What is wrong; empty when nothing is.
        tools: The names of its tools, as far as they are known.
    """

    status: str
    reason: str = ""
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedConfig:
    """What a configuration says of its resource.

    Attributes:
        local_use: What it uses of the server's own machine; empty for nothing.
        description: The description that it contains, as that of a skill does; empty for none.
    """

    local_use: str = ""
    description: str = ""


class ConnectorSources(Protocol):
    """Opens, lists and closes the sources of connectors, and knows the rules of configurations."""

    def check(self, resource: StoredResource, *, principal: Principal) -> CheckedConfig:
        """Check the configuration of a resource.

        Raises:
            AccessDenied: People add none of this kind here.
            InvalidRequest: It is wrong, or contains a secret.
        """
        ...

    def is_taken(self, kind: ResourceKind, name: str) -> bool:
        """Whether the board file, or Pegboard itself, has a source or an agent of this name."""
        ...

    async def load(self) -> None:
        """Follow what is stored: a changed connector is closed, and opened by its next call.

        Raises:
            Unavailable: The store cannot be read.
        """
        ...

    async def open(self, name: str) -> None:
        """Open a connector and list its tools, within the limit of sources; never raises."""
        ...

    def report(self, name: str) -> ConnectorReport:
        """The state of a connector."""
        ...

    async def probe(self, resource: StoredResource) -> ConnectorReport:
        """Open a connector apart, list its tools and close it; never raises for its failure."""
        ...
