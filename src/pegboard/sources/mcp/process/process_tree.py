"""Every process that a server has started, also one that left its group, its session, its parents.

Two ways find them, each where the other does not: who descends from whom, which a process leaves
when its parent ends; and a mark among its variables, which it keeps unless it takes pains. Both
need `/proc`: elsewhere nothing is found, and the process group is all that is ended.
"""

import asyncio
import contextlib
import os
import secrets
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "CHILD_OF_PEGBOARD"
"""Does not begin with `PEGBOARD_`: those are settings, and a child that is a board refuses it."""

_PROC = Path("/proc")
_MOST_ROUNDS = 20
_ROUND_SECONDS = 0.01
_PARENT, _START = 1, 19  # among the fields after the program's name, see proc(5)


def fresh_mark() -> str:
    """A mark that nobody else has, for the variables of a child."""
    return secrets.token_hex(8)


def mark_nested(mark: str, *, proc: Path = _PROC) -> str:
    """The value of the variable: a board within a server of a board keeps the marks above it."""
    above = _value_of(proc / str(os.getpid()))
    return f"{above}.{mark}" if above else mark


async def in_thread_or_inline(work: Callable[[], None]) -> None:
    """Do it on a thread: there may be thousands of processes to look at, and it takes a while."""
    try:
        await asyncio.to_thread(work)
    except RuntimeError:  # the interpreter is on its way out, and starts no threads
        work()


async def ended(pid: int) -> None:
    """Return when this child has ended; where the system does not tell, never."""
    gone = asyncio.Event()
    try:
        told = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):
        await gone.wait()
        return
    loop = asyncio.get_running_loop()
    loop.add_reader(told, gone.set)
    try:
        await gone.wait()
    finally:
        loop.remove_reader(told)
        os.close(told)


@dataclass(frozen=True, slots=True)
class _Process:
    """A process, told from a later one that has its number."""

    pid: int
    started: int
    parent: int


class ProcessTree:
    """A server's process and all that came of it.

    Args:
        pid: The server's.
        mark: Stands in the variables of each of them.
        proc: Where the system tells of processes.
    """

    def __init__(self, pid: int, mark: str, *, proc: Path = _PROC) -> None:
        self._proc = proc
        self._pid = pid
        self._mark = mark.encode()
        self._known: dict[int, int] = {}
        own = _process(proc / str(pid))
        self._oldest = 0 if own is None else own.started

    def is_replaced(self) -> bool:
        """Whether the server's number is another process's by now, which is not to be touched."""
        now = _process(self._proc / str(self._pid))
        return now is not None and now.started != self._oldest

    def look(self) -> None:
        """Remember who is there: when the server has ended, its children are nobody's."""
        born = {item.pid: item for item in _processes(self._proc) if item.started >= self._oldest}
        members = {pid for pid, started in self._known.items() if _is(born, pid, started)}
        if _is(born, self._pid, self._oldest):
            members.add(self._pid)
        members |= {pid for pid in born if self._mark in _variables_of(self._proc / str(pid))}
        children: dict[int, list[int]] = {}
        for item in born.values():
            children.setdefault(item.parent, []).append(item.pid)
        waiting = list(members)
        while waiting:
            new = [pid for pid in children.get(waiting.pop(), ()) if pid not in members]
            members.update(new)
            waiting.extend(new)
        self._known = {pid: born[pid].started for pid in members}

    def kill(self) -> None:
        """Kill whoever is left, and whoever they start meanwhile; returns when nobody is."""
        for _ in range(_MOST_ROUNDS):
            self.look()
            if not self._known:
                return
            for pid in self._known:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_ROUND_SECONDS)


def _is(born: dict[int, _Process], pid: int, started: int) -> bool:
    return pid in born and born[pid].started == started


def _processes(proc: Path) -> Iterator[_Process]:
    """All that live; one that has ended and waits for its parent does not."""
    try:
        folders = [folder for folder in proc.iterdir() if folder.name.isdigit()]
    except OSError:
        return
    yield from filter(None, map(_process, folders))


def _process(folder: Path) -> _Process | None:
    try:
        text = (folder / "stat").read_bytes()
    except OSError:
        return None
    fields = text.rpartition(b")")[2].split()
    if not fields or fields[0] in (b"Z", b"X"):
        return None
    return _Process(int(folder.name), int(fields[_START]), int(fields[_PARENT]))


def _variables_of(folder: Path) -> bytes:
    try:
        return (folder / "environ").read_bytes()
    except OSError:
        return b""


def _value_of(folder: Path) -> str:
    prefix = f"{VARIABLE}=".encode()
    found = (item for item in _variables_of(folder).split(b"\0") if item.startswith(prefix))
    return next(found, b"")[len(prefix) :].decode(errors="replace")
