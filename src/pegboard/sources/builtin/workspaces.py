"""Which folder a call's file tools work in."""

import atexit
import hashlib
import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.principal import Principal
from pegboard.sources.builtin.service_access import services_of
from pegboard.sources.builtin.workspace_files import WorkspaceFiles


def files_of(ctx: ToolContext[Any]) -> WorkspaceFiles:
    """The call's workspace, for tools that read and write files by name."""
    return WorkspaceFiles(workspace_of(ctx))


def workspace_of(ctx: ToolContext[Any]) -> Path:
    """The call's workspace, else the one the operator names, else the caller's own.

    What the operator or the call names is shared by all who are sent there. No two callers have the
    same folder of their own; it stays on a board with a data directory, else it lives as long as
    the process.
    """
    services = services_of(ctx)
    root = ctx.workspace or services.workspace
    if root is None:
        root = (services.workspaces or _process_folder()) / _folder_of(ctx.principal)
    return root.absolute()


def unavailable(_: Services) -> str:
    """Why file tools cannot be used on this machine; empty when they can."""
    if {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.link} <= os.supports_dir_fd:
        return ""
    return "this system cannot open files relative to a folder, so a jail would leak"


def _folder_of(principal: Principal) -> str:
    """The caller's id as far as a file name may hold it, and what tells it from all others."""
    who = f"{principal.tenant}\0{principal.kind}\0{principal.id}".encode("utf-8", "surrogatepass")
    legible = re.sub(r"[^A-Za-z0-9]+", "_", principal.id)[:32]
    return f"{legible}-{hashlib.sha256(who).hexdigest()[:32]}"


@cache
def _process_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="pegboard-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
