"""What this process has open."""

import os
from contextlib import suppress
from pathlib import Path


def descriptors() -> set[tuple[str, str]]:
    """Each descriptor, and what it leads to; other threads may open and close some meanwhile."""
    found: set[tuple[str, str]] = set()
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208 - its own descriptor is closed again
        with suppress(FileNotFoundError):
            found.add((number, str(Path("/proc/self/fd", number).readlink())))
    return found
