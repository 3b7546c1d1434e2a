"""The processes of this machine, and everything that one child process has started.

Both are read from `/proc`. On a system without it nothing is found, and the process group is all
that can be killed.
"""

import contextlib
import os
import secrets
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "CHILD_OF_PEGBOARD"
"""The environment variable that holds the mark. It does not begin with `PEGBOARD_`: a board that
runs as a child would refuse it as an unknown setting."""

_PROC = Path("/proc")
_MAX_ROUNDS = 20
_ROUND_SECONDS = 0.01
_ENDED = (b"Z", b"X")
_PARENT, _START, _PAGES = 1, 19, 21  # among the fields after the program's name, see proc(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessInfo:
    """A living process.

    Attributes:
        started: When it started, in clock ticks after boot; tells it from a later process with the
            same id.
        resident: Bytes of memory that it holds; what processes share counts for each of them.
    """

    pid: int
    parent: int
    started: int
    resident: int


def descendants(pid: int, *, itself: bool = False, proc: Path = _PROC) -> list[ProcessInfo]:
    """The living children of a process, their children, and so on; with the process if wanted."""
    living = list(_processes(proc))
    children = _by_parent(living)
    found = [item for item in living if itself and item.pid == pid]
    parents = [pid]
    while parents:
        below = children.pop(parents.pop(), [])
        found += below
        parents += [process.pid for process in below]
    return found


def new_mark() -> str:
    """A random mark for the environment of a child."""
    return secrets.token_hex(8)


def append_mark(mark: str, *, proc: Path = _PROC) -> str:
    """The value of `VARIABLE` for a child: a board that is a child itself keeps the marks above."""
    above = _mark_of(proc / str(os.getpid()))
    return f"{above}.{mark}" if above else mark


class ProcessTree:
    """A child process and everything it started.

    A process is found by its parent, which it loses when the parent ends, or by the mark in its
    environment, which it keeps unless it clears its environment.

    Args:
        pid: The child.
        mark: In the environment of the child; empty when it has none.
        proc: Where the system lists processes.
    """

    def __init__(self, pid: int, mark: str = "", *, proc: Path = _PROC) -> None:
        self._proc = proc
        self._pid = pid
        self._mark = mark.encode()
        self._known: dict[int, int] = {}
        own = _read_process(proc / str(pid))
        self._oldest = 0 if own is None else own.started

    def is_replaced(self) -> bool:
        """Whether the child has ended and a later process has its id."""
        now = _read_process(self._proc / str(self._pid))
        return now is not None and now.started != self._oldest

    def refresh(self) -> None:
        """Find the processes of the tree, and remember them for when their parents have ended."""
        living = [item for item in _processes(self._proc) if item.started >= self._oldest]
        started = {item.pid: item.started for item in living}
        known = {self._pid: self._oldest, **self._known}
        members = {pid for pid in known if started.get(pid) == known[pid]}
        if self._mark:
            members |= {pid for pid in started if self._mark in _environment(self._proc / str(pid))}
        children = _by_parent(living)
        waiting = list(members)
        while waiting:
            new = [item.pid for item in children.get(waiting.pop(), ()) if item.pid not in members]
            members.update(new)
            waiting.extend(new)
        self._known = {pid: started[pid] for pid in members}

    def kill(self) -> None:
        """Kill the whole tree, and what it starts meanwhile; returns when nothing is left."""
        for _ in range(_MAX_ROUNDS):
            self.refresh()
            if not self._known:
                return
            for pid in self._known:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_ROUND_SECONDS)


def _by_parent(processes: Iterable[ProcessInfo]) -> dict[int, list[ProcessInfo]]:
    children: dict[int, list[ProcessInfo]] = {}
    for item in processes:
        children.setdefault(item.parent, []).append(item)
    return children


def _processes(proc: Path) -> Iterator[ProcessInfo]:
    """All living processes; one that has ended and waits for its parent is not living."""
    try:
        folders = [folder for folder in proc.iterdir() if folder.name.isdigit()]
    except OSError:
        return
    yield from filter(None, map(_read_process, folders))


def _read_process(folder: Path) -> ProcessInfo | None:
    try:
        text = (folder / "stat").read_bytes()
    except OSError:  # it has ended
        return None
    fields = text.rpartition(b")")[2].split()  # the name before it may hold anything
    if not fields or fields[0] in _ENDED:
        return None
    return ProcessInfo(
        pid=int(folder.name),
        parent=int(fields[_PARENT]),
        started=int(fields[_START]),
        resident=int(fields[_PAGES]) * os.sysconf("SC_PAGE_SIZE"),
    )


def _environment(folder: Path) -> bytes:
    try:
        return (folder / "environ").read_bytes()
    except OSError:
        return b""


def _mark_of(folder: Path) -> str:
    prefix = f"{VARIABLE}=".encode()
    found = (item for item in _environment(folder).split(b"\0") if item.startswith(prefix))
    return next(found, b"")[len(prefix) :].decode(errors="replace")
