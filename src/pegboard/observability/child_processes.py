"""The processes below this one, read from `/proc` when somebody asks."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_ENDED = {"Z", "X"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Children:
    """The living descendants of this process: how many, and what memory they hold, in bytes."""

    number: int = 0
    memory: int = 0


def children() -> Children:
    """All living descendants; none on a system without `/proc`."""
    pages_of: dict[int, list[tuple[int, int]]] = {}
    for process, parent, pages in _living():
        pages_of.setdefault(parent, []).append((process, pages))
    number = pages = 0
    waiting = [os.getpid()]
    while waiting:
        for process, resident in pages_of.pop(waiting.pop(), ()):
            number += 1
            pages += resident
            waiting.append(process)
    return Children(number=number, memory=pages * os.sysconf("SC_PAGE_SIZE"))


def _living() -> Iterator[tuple[int, int, int]]:
    """Every process that has not ended: its id, its parent's id and its resident pages."""
    if not _PROC.is_dir():
        return
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            stat = (folder / "stat").read_text(errors="replace")
        except OSError:
            continue  # it ended meanwhile
        # The name in parentheses may hold anything; the fields after it are fixed, see proc(5).
        fields = stat.rpartition(")")[2].split()
        if fields[0] not in _ENDED:
            yield int(folder.name), int(fields[1]), int(fields[21])
