"""Runs work on database connections: threads, pooling, deadlines and error translation."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from pegboard.concurrency.thread_pool import POOL
from pegboard.errors import Overloaded, SourceUnavailable, ToolTimeout
from pegboard.sources.sql.catalog import Table
from pegboard.sources.sql.concurrency_limit import ConcurrencyLimit
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import (
    DatabaseDriver,
    DatabaseSession,
    StaleConnection,
    StatementRequest,
    StatementResult,
)

_Result = TypeVar("_Result")
_Work = Callable[[DatabaseSession], _Result]

_GRACE_SECONDS = 1.0
"""Seconds for the database to stop a statement by itself before its connection is cut."""


class DatabaseClient:
    """Runs work on connections of one database.

    A driver's calls block, so each runs in a thread of the shared pool. When the caller is
    cancelled or the database does not answer in time, the connection is cut, which frees the
    thread.

    Attributes:
        owner: The name of the source, whose share of the thread pool the work takes.
    """

    def __init__(self, driver: DatabaseDriver, config: SqlConfig, *, owner: str) -> None:
        self.owner = owner
        self._driver = driver
        self._config = config
        self._gate = ConcurrencyLimit(config.max_connections)
        self._idle: dict[bool, deque[DatabaseSession]] = {False: deque(), True: deque()}
        self._jobs: set[_Job] = set()
        self._closed = False

    async def tables(self) -> tuple[Sequence[Table], Sequence[str]]:
        """Return every table and view, and the names of triggers."""
        deadline = self._deadline(None)
        return await self._run(lambda session: session.tables(deadline), deadline)

    async def read(self, request: StatementRequest) -> StatementResult:
        """Run a query and return its result."""
        return await self._run(lambda session: session.read(request), request.deadline, request)

    async def write(self, request: StatementRequest) -> StatementResult:
        """Run a write and return its result.

        Raises:
            InvalidRequest: It affects too many rows; nothing was changed.
        """
        most = self._config.max_affected_rows
        return await self._run(
            lambda session: session.write(request, most), request.deadline, request, write=True
        )

    async def ping(self, seconds: float) -> None:
        """Return if the database answers in time."""
        deadline = time.monotonic() + seconds
        await self._run(lambda session: session.ping(deadline), deadline)

    async def close(self) -> None:
        """Cut running statements and close idle connections; safe to call twice."""
        self._closed = True
        for job in tuple(self._jobs):
            job.abort()
        for sessions in self._idle.values():
            while sessions:
                sessions.pop().close()

    def _deadline(self, seconds: float | None) -> float:
        return time.monotonic() + (seconds or self._config.statement_timeout)

    async def _run(
        self,
        work: _Work[_Result],
        deadline: float,
        request: StatementRequest | None = None,
        *,
        write: bool = False,
    ) -> _Result:
        job = _Job()
        self._jobs.add(job)
        try:
            async with (
                asyncio.timeout(max(0.0, deadline - time.monotonic()) + _GRACE_SECONDS),
                self._gate,
            ):
                return await POOL.run(
                    lambda: self._in_thread(job, work, request, write=write), owner=self.owner
                )
        except TimeoutError as error:
            raise self._timeout_error(job) from error
        finally:
            self._jobs.discard(job)
            job.abort()

    def _timeout_error(self, job: "_Job") -> ToolTimeout | Overloaded:
        if not job.started:
            return Overloaded("All connections to the database are busy.", retry_after=1.0)
        return ToolTimeout("The database did not answer in time; the connection was closed.")

    def _in_thread(
        self, job: "_Job", work: _Work[_Result], request: StatementRequest | None, *, write: bool
    ) -> _Result:
        job.started = True
        try:
            try:
                return self._on_session(job, work, self._acquire(write), write=write)
            except StaleConnection:
                self._drop_idle()
                return self._on_session(job, work, self._connect(write), write=write)
        except StaleConnection as error:
            raise SourceUnavailable("The database closes each connection immediately.") from error
        except self._driver.errors as error:
            raise self._driver.translate(error, request) from error

    def _on_session(
        self, job: "_Job", work: _Work[_Result], session: DatabaseSession, *, write: bool
    ) -> _Result:
        try:
            job.hold(session)
            return work(session)
        finally:
            job.release()
            if session.usable and not self._closed:
                self._idle[write].append(session)
            else:
                session.close()

    def _acquire(self, write: bool) -> DatabaseSession:  # noqa: FBT001 # the kind of connection, not a switch
        idle = self._idle[write]
        while True:
            try:
                session = idle.pop()
            except IndexError:
                return self._connect(write)
            if session.usable:
                return session
            session.close()

    def _connect(self, write: bool) -> DatabaseSession:  # noqa: FBT001 # as above
        if self._closed:
            raise SourceUnavailable("The database source is closed.")
        return self._driver.connect(write=write)

    def _drop_idle(self) -> None:
        for sessions in self._idle.values():
            while True:
                try:
                    sessions.pop().close()
                except IndexError:
                    break


class _Job:
    """One piece of work. Another thread can stop it without stopping the work that comes after."""

    def __init__(self) -> None:
        self.started = False
        self._session: DatabaseSession | None = None
        self._aborted = False
        self._lock = threading.Lock()

    def hold(self, session: DatabaseSession) -> None:
        with self._lock:
            self._session = session
            if self._aborted:
                session.abort()

    def release(self) -> None:
        with self._lock:
            self._session = None

    def abort(self) -> None:
        with self._lock:
            self._aborted = True
            if self._session is not None:
                self._session.abort()
