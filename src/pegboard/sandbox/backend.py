"""The base class of the back ends for commands: the command line and the orders of a job."""

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
"""Programs and libraries that every command may read."""
SETTINGS = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
    "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
)  # fmt: skip
"""Settings of the machine that programs need, none of them secret."""
NETWORK_SETTINGS = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/services",
    "/etc/protocols", "/etc/gai.conf",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FIRST_UID, _UIDS = 0x5000_0000, 1 << 28
_OPEN_FILES = 256
_STACK_BYTES = 8 << 20  # the default; what a stack holds does not count as data


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUser:
    """The user and the private folder of one job.

    Attributes:
        folder: The private folder as the command sees it, for its home and temporary files.
        uid: A user id for this job only; None when this process is not root.
    """

    folder: str
    uid: int | None


@functools.cache
def _uids() -> "itertools.count[int]":
    return itertools.count(secrets.randbelow(_UIDS))


def own_uid() -> int | None:
    """A user id that no account and no other job has; None unless this process is root."""
    return _FIRST_UID + next(_uids()) % _UIDS if os.geteuid() == 0 else None


class BackEnd(ABC):
    """One way to confine a command.

    Attributes:
        name: Its name in `board.yaml`.
        supervised: Whether the confining program stays as the parent of the job's processes.
        folder_on_disk: Whether `run_command` makes and removes the private folder.
    """

    name: str
    supervised: bool
    folder_on_disk: bool

    @abstractmethod
    def lacks(self) -> str:
        """What this machine lacks for it and how to fix that; empty when it can be probed."""

    @abstractmethod
    def walls(self, job: SandboxJob, user: JobUser, /) -> list[str]:
        """The program and arguments that run the confining program, such as bubblewrap."""

    @abstractmethod
    def landlock(self, job: SandboxJob, user: JobUser, /) -> dict[str, Any] | None:
        """The Landlock rules for the confining program; None for none."""

    @abstractmethod
    def rules(self, job: SandboxJob, user: JobUser, /) -> FilterRules:
        """The rules of the system call filter."""

    def processes(self, job: SandboxJob) -> int:
        """The limit of processes as the kernel counts them."""
        return job.limits.processes

    def argv(self, job: SandboxJob, user: JobUser, *descriptors: str) -> list[str]:
        """The whole command line; `descriptors` are the arguments of the confining program."""
        interpreter = [str(own_interpreter()), "-I", "-S", "-X", "utf8", str(CONFINE)]
        return [*self.walls(job, user), *interpreter, *descriptors]

    def orders(self, job: SandboxJob, user: JobUser) -> dict[str, Any]:
        """The orders that the confining program reads."""
        limits = job.limits
        seconds = limits.timeout if limits.cpu_seconds is None else limits.cpu_seconds
        return {
            "command": list(job.command),
            "environment": {
                "PATH": PATH,
                "HOME": user.folder,
                "TMPDIR": user.folder,
                "LANG": "C.UTF-8",
                **job.environment,
            },
            "directory": user.folder if job.directory is None else str(job.directory),
            "uid": user.uid,
            "dies_with_parent": True,
            "folder": user.folder if self.folder_on_disk else "",
            "landlock": self.landlock(job, user),
            "filter": seccomp_filter(os.uname().machine, self.rules(job, user)).hex(),
            "limits": {
                "RLIMIT_CPU": max(1, -int(-seconds // 1)),
                # not RLIMIT_AS: V8 and others reserve far more addresses than they use
                "RLIMIT_DATA": limits.memory_bytes,
                "RLIMIT_STACK": _STACK_BYTES,
                "RLIMIT_NPROC": self.processes(job),
                "RLIMIT_FSIZE": limits.file_bytes,
                "RLIMIT_NOFILE": _OPEN_FILES,
                "RLIMIT_CORE": 0,
                "RLIMIT_MEMLOCK": 0,
            },
        }


@functools.cache
def own_interpreter() -> Path:
    """The Python interpreter, without the links of a virtual environment."""
    return Path(sys.executable).resolve()


def readable_paths(job: SandboxJob) -> list[str]:
    """The paths that a command may read: of the system, Python, the confining program, the job."""
    network = NETWORK_SETTINGS if job.network else ()
    own = (str(Path(sys.base_prefix).resolve()), str(CONFINE))
    return [*SYSTEM, *SETTINGS, *network, *own, *map(str, job.readable)]
