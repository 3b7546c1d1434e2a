"""Landlock: file rules, a system call filter and limits, with no program and no privilege."""

import functools
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from pegboard.core.ports.sandbox import SandboxJob
from pegboard.sandbox.backend import DEVICES, BackEnd, JobUser, readable_paths
from pegboard.sandbox.seccomp import AF_INET, AF_INET6, FilterRules

_SUPERVISOR_PROCESSES = 1
_MIN_ABI = 3  # before it, files outside could be cut short
_ABI_WITH_SCOPES = 6  # before it, processes of the same user could be killed
_CREATE_RULESET, _ASK_VERSION = 444, 1


@functools.cache
def landlock_abi() -> int:
    """The version of Landlock that the kernel of this machine has; 0 for none."""
    if sys.platform != "linux":
        return 0
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    return max(
        0, libc.syscall(ctypes.c_ulong(_CREATE_RULESET), zero, zero, ctypes.c_ulong(_ASK_VERSION))
    )


class Landlock(BackEnd):
    """Files, sockets and processes outside exist, but cannot be opened, reached or signalled."""

    name = "landlock"
    supervised = True
    folder_on_disk = True

    def __init__(self, *, abi: int | None = None) -> None:
        self._abi = landlock_abi() if abi is None else abi

    def lacks(self) -> str:
        abi = self._abi
        if abi < 1:
            return "the kernel has no Landlock; boot with lsm=landlock,... on Linux 6.12 or newer"
        if abi < (_MIN_ABI if os.geteuid() == 0 else _ABI_WITH_SCOPES):
            return (
                f"the kernel's Landlock is too old (ABI {abi}): it would not keep signals and "
                f"changes of files in; Linux 6.12 does, here {platform.release()}"
            )
        return ""

    def walls(self, _job: SandboxJob, _user: JobUser, /) -> list[str]:
        return []

    def landlock(self, job: SandboxJob, user: JobUser, /) -> dict[str, Any] | None:
        return {
            "abi": self._abi,
            "files": True,
            "network": job.network,
            "read": readable_paths(job),
            "write": [user.folder, *map(str, job.writable)],
            "devices": list(DEVICES),
        }

    def rules(self, job: SandboxJob, user: JobUser, /) -> FilterRules:
        """No sockets at all without network access, since there is no network namespace."""
        families = (AF_INET, AF_INET6) if job.network else ()
        return FilterRules(families=families, namespaces=False, owns_others=user.uid is None)

    def processes(self, job: SandboxJob) -> int:
        """The job's limit plus the processes that exist: the kernel counts all of the user's."""
        if os.geteuid() == 0:
            return job.limits.processes
        return job.limits.processes + _SUPERVISOR_PROCESSES + _own_threads()


def _own_threads() -> int:
    uid = os.geteuid()
    count = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it has ended since
                if entry.stat().st_uid == uid:
                    count += len(os.listdir(entry / "task"))  # noqa: PTH208 - names alone are counted
    return count
