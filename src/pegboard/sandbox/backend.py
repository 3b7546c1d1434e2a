"""What every back end for commands has: how to start the confining program, and its orders."""

import functools
import itertools
import os
import secrets
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pegboard.core.ports.sandbox import SandboxJob
from pegboard.sandbox.seccomp import FilterRules, seccomp_filter

CONFINE = Path(__file__).with_name("confine_script.py")
PATH = "/usr/local/bin:/usr/bin:/bin"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Programs and libraries: what every command may read."""
SETTINGS = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
    "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
)  # fmt: skip
"""Settings of the machine without which programs fail, and which hold no secret."""
NETWORK_SETTINGS = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/services",
    "/etc/protocols", "/etc/gai.conf",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FIRST_UID, _UIDS = 0x5000_0000, 1 << 28
_OPEN_FILES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUser:
    """Where and as whom one job runs.

    Attributes:
        folder: The private folder as the command sees it: its home and place for temporary files.
        uid: A user for this job alone; None when we are not root and cannot change user.
    """

    folder: str
    uid: int | None


@functools.cache
def _uids() -> "itertools.count[int]":
    return itertools.count(secrets.randbelow(_UIDS))


def own_uid() -> int | None:
    """A user id that no account and no other job of ours has; None unless we are root."""
    return _FIRST_UID + next(_uids()) % _UIDS if os.geteuid() == 0 else None


class BackEnd(ABC):
    """One way to confine a command.

    Attributes:
        name: What `board.yaml` calls it.
        supervised: Whether the confining program stays as the parent of what the job starts.
        folder_on_disk: Whether the private folder is made, and removed, by whoever runs the job.
    """

    name: str
    supervised: bool
    folder_on_disk: bool

    @abstractmethod
    def lacks(self) -> str:
        """What this machine lacks for it and what to do; empty when it is worth a probe."""

    @abstractmethod
    def walls(self, job: SandboxJob, seat: JobUser, /) -> list[str]:
        """The program and arguments that put walls up before the confining program starts."""

    @abstractmethod
    def landlock(self, job: SandboxJob, seat: JobUser, /) -> dict[str, Any] | None:
        """The rules of the files it may touch, for the confining program; None for none."""

    @abstractmethod
    def rules(self, job: SandboxJob, seat: JobUser, /) -> FilterRules:
        """Which system calls it may make."""

    def processes(self, job: SandboxJob) -> int:
        """The limit of processes as the kernel counts them."""
        return job.limits.processes

    def argv(self, job: SandboxJob, seat: JobUser, *descriptors: str) -> list[str]:
        """The whole command line; `descriptors` are the arguments of the confining program."""
        interpreter = [str(own_interpreter()), "-I", "-S", "-X", "utf8", str(CONFINE)]
        return [*self.walls(job, seat), *interpreter, *descriptors]

    def orders(self, job: SandboxJob, seat: JobUser) -> dict[str, Any]:
        """What the confining program reads."""
        limits = job.limits
        seconds = limits.timeout if limits.cpu_seconds is None else limits.cpu_seconds
        return {
            "command": list(job.command),
            "environment": {
                "PATH": PATH,
                "HOME": seat.folder,
                "TMPDIR": seat.folder,
                "LANG": "C.UTF-8",
                **job.environment,
            },
            "directory": seat.folder if job.directory is None else str(job.directory),
            "uid": seat.uid,
            "dies_with_parent": True,
            "folder": seat.folder if self.folder_on_disk else "",
            "landlock": self.landlock(job, seat),
            "filter": seccomp_filter(os.uname().machine, self.rules(job, seat)).hex(),
            "limits": {
                "RLIMIT_CPU": max(1, -int(-seconds // 1)),
                "RLIMIT_AS": limits.memory_bytes,
                "RLIMIT_NPROC": self.processes(job),
                "RLIMIT_FSIZE": limits.file_bytes,
                "RLIMIT_NOFILE": _OPEN_FILES,
                "RLIMIT_CORE": 0,
                "RLIMIT_MEMLOCK": 0,
            },
        }


@functools.cache
def own_interpreter() -> Path:
    """Python itself, behind the links of a virtual environment."""
    return Path(sys.executable).resolve()


def readable_paths(job: SandboxJob) -> list[str]:
    """All that a command may read: the system's, Python's own, the confining program, the job's."""
    network = NETWORK_SETTINGS if job.network else ()
    own = (str(Path(sys.base_prefix).resolve()), str(CONFINE))
    return [*SYSTEM, *SETTINGS, *network, *own, *map(str, job.readable)]
