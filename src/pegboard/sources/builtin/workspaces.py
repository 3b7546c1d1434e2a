"""Which folder a call's file tools work in."""

import atexit
import hashlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.principal import Principal
from pegboard.sources.builtin.jail import Jail
from pegboard.sources.builtin.services import services_of


def jail_of(ctx: ToolContext[Any]) -> Jail:
    """The call's workspace, else the board's, else a private one of the caller.

    What the operator or the call names is shared by all who are sent there. A private one lives as
    long as the process, and no two callers have the same.
    """
    root = ctx.workspace or services_of(ctx).workspace
    return Jail(root if root is not None else _private(ctx.principal))


def unavailable(_: Services) -> str:
    """Why file tools cannot be used on this machine; empty when they can."""
    if {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.link} <= os.supports_dir_fd:
        return ""
    return "this system cannot open files relative to a folder, so a jail would leak"


def _private(principal: Principal) -> Path:
    who = f"{principal.tenant}\0{principal.kind}\0{principal.id}"
    return _process_folder() / hashlib.sha256(who.encode()).hexdigest()[:32]


@cache
def _process_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="pegboard-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
