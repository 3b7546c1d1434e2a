"""What sources may use, made once for a board and given back with it."""

import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.core.ports.services import Services
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.settings import Settings, environ
from pegboard.runtime.wiring.network import http_client
from pegboard.runtime.wiring.sandbox import sandbox as wired_sandbox

if TYPE_CHECKING:
    from pegboard.sandbox import ProbedSandbox


def services(
    loaded: LoadedBoard, settings: Settings, stack: AsyncExitStack
) -> "tuple[Services, ProbedSandbox]":
    """The guarded client, the folders and the sandbox of a board; the stack closes them."""
    http = http_client(loaded.board.network)
    stack.push_async_callback(http.close)
    data = settings.data
    if data is not None:
        workspaces = data / "workspace"
        workspaces.mkdir(parents=True, exist_ok=True)
    else:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pegboard-"))
        workspaces = Path(folder)
    sandbox = wired_sandbox(loaded.board.sandbox)
    stack.push_async_callback(sandbox.close)
    made = Services(
        http=http,
        base_dir=loaded.base_dir,
        data_dir=data,
        workspaces=workspaces,
        sandbox=sandbox,
        environ=environ(),
    )
    return made, sandbox
