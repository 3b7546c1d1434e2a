"""Chooses the folder in which the file tools of a call work."""

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
    """Return access to the files of the call's workspace."""
    return WorkspaceFiles(workspace_of(ctx))


def workspace_of(ctx: ToolContext[Any]) -> Path:
    """Return the workspace of the call, else the operator's, else the caller's own.

    A workspace named by the operator or the call is shared by all callers that use it; the one of
    a conversation yields to the operator's. Each caller's own folder is separate; it is kept on a
    board with a data directory, and else lives as long as the process.
    """
    services = services_of(ctx)
    named = (ctx.workspace, services.workspace)
    first, second = reversed(named) if ctx.workspace_yields else named
    root = first or second
    if root is None:
        root = (services.workspaces or _process_folder()) / _folder_of(ctx.principal)
    return root.absolute()


def unavailable(_: Services) -> str:
    """Return why file tools cannot work on this machine; empty if they can."""
    if {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.link} <= os.supports_dir_fd:
        return ""
    return "this system cannot open files relative to a folder, so a jail would leak"


def _folder_of(principal: Principal) -> str:
    """Return the folder name of a caller: a readable part of the id, and a digest."""
    who = f"{principal.tenant}\0{principal.kind}\0{principal.id}".encode("utf-8", "surrogatepass")
    legible = re.sub(r"[^A-Za-z0-9]+", "_", principal.id)[:32]
    return f"{legible}-{hashlib.sha256(who).hexdigest()[:32]}"


@cache
def _process_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="pegboard-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
