"""How much memory a tree of processes holds."""

import os
from contextlib import suppress
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def resident_bytes(root: int) -> int:
    """Resident bytes of all descendants of a process; what they share counts for each."""
    parents: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it has ended since
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                sizes[int(entry.name)] = int(fields[21]) * _PAGE
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return sum(sizes.get(pid, 0) for pid in found[1:])
