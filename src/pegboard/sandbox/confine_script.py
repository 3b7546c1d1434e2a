"""The program that confines itself and then becomes the command of a job.

Run as a script by a Python without site packages, never imported by what starts it. It imports
nothing of Pegboard, and nothing slow, since every job starts it. It reads its orders as one
marshalled dict and fails closed: if a restriction cannot be applied, it reports that on the status
descriptor and exits with 125, and nothing of the job has run.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import resource
import select
import struct
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

EXIT_UNCONFINED = 125
_FIRST_UID = 0x5000_0000
_SIGKILL = 9
_LIBC = ctypes.CDLL(None, use_errno=True)
_SET_PDEATHSIG, _SET_DUMPABLE, _SET_KEEPCAPS, _SET_SECCOMP, _SET_SUBREAPER = 1, 4, 8, 22, 36
_SET_NO_NEW_PRIVS, _CAP_AMBIENT, _FILTER_MODE, _AMBIENT_RAISE, _AMBIENT_CLEAR = 38, 47, 2, 2, 4
_CAP_DAC_OVERRIDE, _CAPABILITIES_V3 = 1, 0x2008_0522
_CAPSET = {"x86_64": 126, "aarch64": 91}.get(os.uname().machine, -1)
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}  # by the ABI that brings them
_OF_A_FILE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
_TO_READ = 1 << 0 | 1 << 2 | 1 << 3  # execute, read files, list folders
_TO_USE = 1 << 1 | 1 << 2 | 1 << 15  # devices: write, read, control


def main(arguments: list[str]) -> NoReturn:
    """Read the orders, confine this process, become the command.

    Args:
        arguments: Where the orders are (a descriptor or a path), the descriptor to tell on how it
            went, and the one that ends when the starter is gone; `-` for none. What follows are
            further arguments of the command.
    """
    orders_at, status_at, life_at, *further = arguments
    with open(int(orders_at) if orders_at.isdigit() else orders_at, "rb") as file:  # noqa: PTH123 - it may be a descriptor
        orders = marshal.load(file)  # noqa: S302 - written by what started this
    if orders["uid"] is not None and orders["uid"] < _FIRST_UID:
        os._exit(
            EXIT_UNCONFINED
        )  # all processes of that user are killed in the end: of no real one
    status = 2 if status_at == "-" else int(status_at)
    try:
        if life_at != "-":
            _supervise(orders, life=int(life_at))
        confine(orders)
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        os.write(status, f"{what}{error.strerror}".encode())
        os._exit(EXIT_UNCONFINED)
    os.closerange(3, max(status, 3))
    os.closerange(max(status, 2) + 1, 1 << 20)
    if status != 2:
        os.set_inheritable(status, False)  # noqa: FBT003 - it has no name for it
        os.write(status, b"\n")
    _become([*orders["command"], *further], orders["environment"])


def confine(orders: Mapping[str, Any]) -> None:
    """Give up rights, in an order in which the later steps are still allowed."""
    ruleset = _ruleset(orders["landlock"]) if orders["landlock"] else -1
    _give_up_root(orders["uid"])
    if orders["dies_with_parent"]:
        _call(_LIBC.prctl, _SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    _call(_LIBC.prctl, _SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    os.umask(0o022)
    for name, amount in orders["limits"].items():
        _limit(getattr(resource, name), amount)
    if ruleset >= 0:
        _call(_LIBC.syscall, _LANDLOCK_RESTRICT, ruleset, 0)
    os.chdir(orders["directory"])
    _install_filter(bytes.fromhex(orders["filter"]))


def _become(command: list[str], environment: Mapping[str, str]) -> NoReturn:
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - this is what it is for
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _limit(which: int, amount: int) -> None:
    """Lower a limit; for processor time a signal comes first, which tells it from a kill."""
    _, hard = resource.getrlimit(which)
    most = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
    grace = 1 if which == resource.RLIMIT_CPU and most != hard else 0
    resource.setrlimit(which, (most, most + grace))


def _give_up_root(uid: int | None) -> None:
    """Change to a user for this job, if started by root.

    The files that a job is given belong to root, so the right to open them in spite of that stays;
    modes, owners and processes of root are out of reach.
    """
    _call(_LIBC.prctl, _CAP_AMBIENT, _AMBIENT_CLEAR, 0, 0, 0)
    if uid is None:
        _set_capabilities(0)
        return
    _call(_LIBC.prctl, _SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _set_capabilities(1 << _CAP_DAC_OVERRIDE)
    _call(_LIBC.prctl, _CAP_AMBIENT, _AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0)


def _set_capabilities(mask: int) -> None:
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITIES_V3, 0), 8)
    data = ctypes.create_string_buffer(struct.pack("=6I", mask, mask, mask, 0, 0, 0), 24)
    _call(_LIBC.syscall, _CAPSET, header, data)


def _ruleset(rules: Mapping[str, Any]) -> int:
    """Make a Landlock ruleset, which forbids what no rule allows."""
    abi = rules["abi"]
    rights = sum(bits for since, bits in _FILE_RIGHTS.items() if abi >= since)
    files = rights if rules["files"] else 0
    network = 3 if abi >= 4 and not rules["network"] else 0  # bind and connect of TCP
    scoped = 3 if abi >= 6 else 0  # abstract sockets and signals to others
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    attributes = ctypes.create_string_buffer(struct.pack("=3Q", files, network, scoped), 24)
    ruleset = _call(_LIBC.syscall, _LANDLOCK_CREATE, attributes, size, 0)
    for paths, allowed in (
        (rules["read"], _TO_READ),
        (rules["write"], rights),
        (rules["devices"], _TO_USE),
    ):
        for path in paths:
            try:
                _allow(ruleset, path, allowed & rights)
            except FileNotFoundError:  # not every system has every one of its folders
                continue
    return ruleset


def _allow(ruleset: int, path: str, allowed: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not os.path.isdir(path):  # noqa: PTH112 - `pathlib` costs as much as the rest of the start
        allowed &= _OF_A_FILE
    rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, descriptor), 12)
    _call(_LIBC.syscall, _LANDLOCK_ADD, ruleset, 1, rule, 0)
    os.close(descriptor)


def _install_filter(program: bytes) -> None:
    instructions = ctypes.create_string_buffer(program, len(program))
    address = ctypes.addressof(instructions)
    head = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, address), 16)
    _call(_LIBC.prctl, _SET_SECCOMP, _FILTER_MODE, head, 0, 0)


def _supervise(orders: Mapping[str, Any], *, life: int) -> None:
    """Return in a child; stay behind as the parent of the job's processes, and end them.

    Whatever loses its parent becomes a child of this process, which kills it when the command has
    ended or the starter is gone. The first of a process namespace takes all along in any case.
    """
    _call(_LIBC.prctl, _SET_SUBREAPER, 1, 0, 0, 0)
    _call(_LIBC.prctl, _SET_DUMPABLE, 0, 0, 0, 0)  # its memory is not the job's to write
    child = os.fork()
    if child == 0:
        os.close(life)
        os.setsid()
        return
    os.closerange(0, life)
    os.closerange(life + 1, 1 << 20)
    ended = os.pidfd_open(child)
    poll = select.poll()
    poll.register(life, select.POLLIN)
    poll.register(ended, select.POLLIN)
    events = dict(poll.poll())
    _, outcome = os.waitpid(child, os.WNOHANG)
    _kill_all(orders["uid"])
    if life in events and orders["folder"]:  # the starter may be gone and cannot do it
        os.execv("/bin/rm", ["rm", "-rf", "--", orders["folder"]])  # noqa: S606 - a fixed program
    code = os.waitstatus_to_exitcode(outcome)
    os._exit(code if code >= 0 else 128 - code)


def _kill_all(uid: int | None) -> None:
    """Kill and reap all descendants; with a user id for the job, all its processes at once."""
    while True:
        if uid is not None and os.fork() == 0:
            os.setresuid(uid, uid, uid)
            if os.getresuid() == (uid, uid, uid) and uid >= _FIRST_UID:
                _kill(-1)
            os._exit(0)
        for pid in [] if uid is not None else _descendants():
            _kill(pid)
        time.sleep(0.001)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


def _kill(pid: int) -> None:
    try:
        if pid > 0:  # a process that is not dead yet shall have no more children
            resource.prlimit(pid, resource.RLIMIT_NPROC, (0, 0))
        os.kill(pid, _SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _descendants() -> list[int]:
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - see `_allow`
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - see `_allow`
                    parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
            except OSError:  # it has ended since
                continue
    found = [os.getpid()]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


def _call(function: Any, *arguments: Any) -> int:
    """A system call; the numbers as wide as the kernel reads them."""
    wide = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in arguments]
    answer = function(*wide)
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer


if __name__ == "__main__":
    main(sys.argv[1:])
