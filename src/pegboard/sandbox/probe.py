"""Tests a back end on this machine by attacks from inside it."""

import asyncio
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pegboard.core.ports.sandbox import SandboxJob, SandboxLimits, SandboxOutcome
from pegboard.errors import PegboardError
from pegboard.sandbox.backend import BackEnd, own_interpreter
from pegboard.sandbox.run_command import run_command
from pegboard.sandbox.seccomp import supported

_PROBE_SCRIPT = Path(__file__).with_name("probe_script.py")
_GIVEN = ["PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE"]
_LIMITS = SandboxLimits(
    timeout=20.0
)  # the finding is kept, and a slow machine is not a broken sandbox


async def why_not(back_end: BackEnd, *, network: bool = False) -> str:
    """Why a back end cannot be used here and what to do; empty when all attacks failed."""
    lacking = _unsupported_reason() or back_end.lacks()
    if lacking:
        return lacking
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pegboard-probe-")))
        target, udp = stack.enter_context(_targets(folder, network=network))
        secret = Path(target["secret"])
        before = _state(secret)
        code = await asyncio.to_thread(_PROBE_SCRIPT.read_text, encoding="utf-8")
        job = SandboxJob(
            command=(str(own_interpreter()), "-I", "-S", "-c", code, json.dumps(target)),
            writable=(Path(target["workspace"]),),
            network=network,
            limits=_LIMITS,
        )
        try:
            outcome = await run_command(back_end, job)
        except PegboardError as error:
            return f"it cannot be set up here: {error.__cause__ or error}"
        found = _read_report(outcome)
        if _state(secret) != before or list(secret.parent.iterdir()) != [secret]:
            found.append("it changed a file outside")
        if _received(udp) and not network:
            found.append("it sends UDP")
    return f"it failed its probe: {'; '.join(found)}" if found else ""


def _unsupported_reason() -> str:
    if not hasattr(os, "memfd_create"):
        return "commands can be confined on Linux only"
    machine = os.uname().machine
    if not supported(machine):
        return f"there is no system call filter for this kind of processor ({machine})"
    return ""


def _read_report(outcome: SandboxOutcome) -> list[str]:
    try:
        return json.loads(outcome.stdout)
    except ValueError:
        why = outcome.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return [f"the probe gave no answer ({why or f'exit code {outcome.exit_code}'})"]


def _received(udp: socket.socket) -> bool:
    udp.settimeout(0)
    try:
        return bool(udp.recv(1))
    except BlockingIOError:
        return False


def _of_home() -> str:
    """A file in the home of the server's user that an attack tries to read; empty for none."""
    home = Path.home()
    try:
        files = [entry for entry in sorted(home.iterdir()) if entry.is_file()]
    except OSError:
        return ""
    return next((str(path) for path in files if path.stat().st_size), "")


def _state(path: Path) -> tuple[Any, ...]:
    if not path.exists():
        return ()
    status = path.stat()
    return path.read_bytes(), status.st_mode, status.st_uid, status.st_mtime_ns


@contextmanager
def _targets(folder: Path, *, network: bool) -> Generator[tuple[dict[str, Any], socket.socket]]:
    """The targets of the attacks: a file, a home, this process, and servers of each kind."""
    outside, workspace = folder / "outside", folder / "workspace"
    outside.mkdir()
    workspace.mkdir()
    secret = outside / "secret"
    secret.write_text("secret")
    abstract = f"pegboard-{secrets.token_hex(8)}"
    path = str(folder / "socket")
    with (
        _listening(socket.AF_INET, ("127.0.0.1", 0)) as tcp,
        _listening(socket.AF_UNIX, "\0" + abstract),
        _listening(socket.AF_UNIX, path),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
    ):
        udp.bind(("127.0.0.1", 0))
        target = {
            "secret": str(secret),
            "workspace": str(workspace),
            "home": _of_home(),
            "process": os.getpid(),
            "variables": _GIVEN,
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "abstract": abstract,
            "path": path,
            "network": network,
        }
        yield target, udp


@contextmanager
def _listening(family: int, address: Any) -> Generator[socket.socket]:
    with socket.socket(family) as server:
        server.bind(address)
        server.listen(1)
        yield server
