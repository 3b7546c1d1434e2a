"""Bubblewrap: namespaces of mounts, processes, network and IPC around the confining program."""

import os
import shutil
from pathlib import Path
from typing import Any

from pegboard.core.ports.sandbox import SandboxJob
from pegboard.sandbox.backend import BackEnd, JobUser, readable_paths
from pegboard.sandbox.landlock import landlock_abi
from pegboard.sandbox.seccomp import AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, FilterRules

FOLDER = "/tmp"  # noqa: S108 - inside the sandbox, where only the job has it
_SHARED_MEMORY = 16 << 20
_ABI_WITH_SCOPES = 6
_OF_BUBBLEWRAP = 4  # its own processes in the user namespace
_RIGHTS_TO_CHANGE_USER = ("CAP_SETUID", "CAP_SETGID", "CAP_DAC_OVERRIDE")


class Bubblewrap(BackEnd):
    """Nothing outside exists for the command: no file, process, socket or host name."""

    name = "bubblewrap"
    supervised = True
    folder_on_disk = False

    def lacks(self) -> str:
        if shutil.which("bwrap") is None:
            return "bwrap is not installed; install it (on Debian: apt install bubblewrap)"
        return ""

    def walls(self, job: SandboxJob, user: JobUser, /) -> list[str]:
        argv = [shutil.which("bwrap") or "bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        argv += [] if job.network else ["--unshare-net"]
        if user.uid is None:
            argv += ["--unshare-user", "--cap-drop", "ALL"]
        else:
            argv += ["--cap-drop", "ALL"]
            for right in _RIGHTS_TO_CHANGE_USER:
                argv += ["--cap-add", right]
        argv += [
            "--die-with-parent",
            "--as-pid-1",
            "--new-session",
            "--clearenv",
            "--hostname",
            "sandbox",
        ]
        argv += ["--proc", "/proc", "--remount-ro", "/proc"]
        argv += ["--dev", "/dev", "--remount-ro", "/dev"]
        argv += ["--size", str(_SHARED_MEMORY), "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108 - a mount of its own
        size = str(job.limits.memory_bytes)
        argv += ["--size", size, "--perms", "1777", "--tmpfs", FOLDER]
        argv += _binds(readable_paths(job), [str(path) for path in job.writable])
        return [*argv, "--remount-ro", "/", "--"]

    def landlock(self, job: SandboxJob, _user: JobUser, /) -> dict[str, Any] | None:
        """Only its scopes: abstract sockets matter where the network is shared."""
        abi = landlock_abi()
        if abi < _ABI_WITH_SCOPES:
            return None
        nothing: list[str] = []
        return {
            "abi": abi,
            "files": False,
            "network": job.network,
            "read": nothing,
            "write": nothing,
            "devices": nothing,
        }

    def rules(self, job: SandboxJob, _user: JobUser, /) -> FilterRules:
        """Unix sockets are its own, except that a shared network has shared abstract ones."""
        families: tuple[int, ...] = (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK)
        if job.network and landlock_abi() < _ABI_WITH_SCOPES:
            families = (AF_INET, AF_INET6, AF_NETLINK)
        return FilterRules(families=families, namespaces=True, owns_others=False)

    def processes(self, job: SandboxJob) -> int:
        return job.limits.processes + (_OF_BUBBLEWRAP if os.geteuid() != 0 else 0)


def _binds(read: list[str], write: list[str]) -> list[str]:
    """Mounts, the outer ones first; what is a link outside is the same link inside."""
    argv: list[str] = []
    mounts = [(path, "--ro-bind-try") for path in read] + [(path, "--bind") for path in write]
    for path, option in sorted(mounts, key=lambda item: len(Path(item[0]).parts)):
        if option == "--ro-bind-try" and len(Path(path).parts) == 2 and Path(path).is_symlink():
            argv += ["--symlink", os.readlink(path), path]  # noqa: PTH115 - the text of the link
        else:
            argv += [option, path, path]
    return argv
