"""Creates the services that sources may use, once for a board."""

import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.core.ports.http import HttpClient
from pegboard.core.ports.services import Services
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.models import NetworkEntry, SandboxEntry
from pegboard.runtime.settings import Settings, environ

if TYPE_CHECKING:
    from pegboard.sandbox import ProbedSandbox


def open_services(
    loaded: LoadedBoard, settings: Settings, stack: AsyncExitStack
) -> "tuple[Services, ProbedSandbox]":
    """Create the HTTP client, the folders and the sandbox of a board; the stack closes them."""
    http = create_http_client(loaded.board.network)
    stack.push_async_callback(http.close)
    data = settings.data
    if data is not None:
        workspaces = data / "workspace"
        workspaces.mkdir(parents=True, exist_ok=True)
    else:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pegboard-"))
        workspaces = Path(folder)
    probed = create_sandbox(loaded.board.sandbox)
    stack.push_async_callback(probed.close)
    made = Services(
        http=http,
        base_dir=loaded.base_dir,
        data_dir=data,
        workspaces=workspaces,
        sandbox=probed,
        environ=environ(),
    )
    return made, probed


def create_http_client(entry: NetworkEntry) -> HttpClient:
    """Create the guarded HTTP client of a board.

    Raises:
        ConfigError: A host pattern or a network that cannot be read.
    """
    from pegboard.network import GuardedClient, SsrfPolicy

    policy = SsrfPolicy(allow_hosts=entry.allow_hosts, allow_networks=entry.allow_networks)
    return GuardedClient(policy=policy)


def create_sandbox(entry: SandboxEntry) -> "ProbedSandbox":
    """Create the sandbox of a board; back ends are probed when first needed."""
    from pegboard.sandbox import ProbedSandbox

    return ProbedSandbox(allowed=entry.back_ends, network=entry.network)
