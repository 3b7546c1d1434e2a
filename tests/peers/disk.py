"""A disk without room, for what this process writes."""

import resource
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_room() -> Generator[None]:
    """No file grows; opening and making empty ones goes on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
