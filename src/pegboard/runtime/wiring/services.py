"""Creates the services that sources may use, once for a board."""

import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.core.ports.accounts.credentials import SourceCredentials
from pegboard.core.ports.http import HttpClient
from pegboard.core.ports.knowledge.bases import KnowledgeBases
from pegboard.core.ports.knowledge.picture_reader import PictureReader
from pegboard.core.ports.services import Services
from pegboard.core.ports.source_services.subagents import SubagentRunner
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.models import NetworkEntry, SandboxEntry
from pegboard.runtime.settings import Settings, environ
from pegboard.runtime.wiring.providers import create_providers
from pegboard.runtime.wiring.storage import storage_location
from pegboard.runtime.working_folder import open_working_folder
from pegboard.schemas.validation_cost import limit_branches

if TYPE_CHECKING:
    from pegboard.sandbox import ProbedSandbox


def open_services(
    loaded: LoadedBoard,
    settings: Settings,
    stack: AsyncExitStack,
    *,
    agents: SubagentRunner,
    credentials: SourceCredentials,
    knowledge: KnowledgeBases,
) -> "tuple[Services, ProbedSandbox]":
    """Create the HTTP client, the folders and the sandbox of a board; the stack closes them.

    Args:
        loaded: The board file.
        settings: The settings.
        stack: Closes them.
        agents: Runs agents that are tools.
        credentials: Finds the credentials of callers.
        knowledge: Answers from knowledge bases.

    What sources accept as a schema is limited from here on.

    Raises:
        ConfigError: A host pattern or a network of the board cannot be read; names the line.
    """
    try:
        http = create_http_client(loaded.board.network)
    except ConfigError as error:
        raise ConfigError(f"{loaded.where(('network',))}: network.{error.message}") from error
    stack.push_async_callback(http.close)
    stack.enter_context(limit_branches(settings.max_schema_alternatives))
    data = settings.data
    if data is not None:
        workspaces = data / "workspace"
        workspaces.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):  # of another user, who has decided this
            workspaces.chmod(0o700)
    else:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pegboard-"))
        workspaces = Path(folder)
    is_stored = storage_location(settings) is not None
    working = stack.enter_context(open_working_folder(data)) if is_stored else None
    providers = create_providers(settings, loaded.board.network)
    if providers.http is not None:
        stack.push_async_callback(providers.http.close)
    probed = create_sandbox(loaded.board.sandbox)
    stack.push_async_callback(probed.close)
    from pegboard.documents import SandboxConverter

    made = Services(
        http=http,
        base_dir=loaded.base_dir,
        working=working,
        data_dir=data,
        workspaces=workspaces,
        sandbox=probed,
        environ=environ(),
        providers=providers,
        agents=agents,
        credentials=credentials,
        knowledge=knowledge,
        converter=SandboxConverter(probed),
    )
    return made, probed


def read_pictures_with(services: Services, find: Callable[[], PictureReader | None]) -> None:
    """Let the converter of a board read pictures with its vision model.

    Args:
        services: Those of the board.
        find: The model in force; None while the board file names none.
    """
    from pegboard.documents import SandboxConverter

    if isinstance(services.converter, SandboxConverter):
        services.converter.find_reader = find


def create_http_client(entry: NetworkEntry) -> HttpClient:
    """Create the guarded HTTP client of a board.

    Raises:
        ConfigError: A host pattern or a network that cannot be read.
    """
    from pegboard.network import GuardedClient, SsrfPolicy

    policy = SsrfPolicy(allow_hosts=entry.allow_hosts, allow_networks=entry.allow_networks)
    return GuardedClient(policy=policy)


def guard_addresses(services: Services, entry: NetworkEntry) -> Services:
    """The services for sources of people: what connects by itself reaches public addresses only."""
    from pegboard.network import PolicyAddressGuard, SsrfPolicy

    policy = SsrfPolicy(allow_hosts=entry.allow_hosts, allow_networks=entry.allow_networks)
    return replace(services, addresses=PolicyAddressGuard(policy))


def create_sandbox(entry: SandboxEntry) -> "ProbedSandbox":
    """Create the sandbox of a board; back ends are probed when first needed."""
    from pegboard.sandbox import ProbedSandbox

    return ProbedSandbox(allowed=entry.back_ends, network=entry.network)
