"""Makes Python environments for scripts with dependencies; each set of dependencies has one."""

import asyncio
import contextlib
import fcntl
import logging
import shutil
import tempfile
import threading
from collections.abc import Generator, Mapping
from concurrent.futures import Future
from pathlib import Path

from pegboard.concurrency.child_process import ProcessResult, ProcessSpec, run_process
from pegboard.errors import PegboardError, SourceUnavailable, Unavailable
from pegboard.sources.script.interpreters import PATH
from pegboard.sources.script.pep723 import Dependencies

_LOG = logging.getLogger("pegboard.sources")
_READY = "ready"
_LOGGED = 4_000
_PASSED_VARIABLES = (
    *("HOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"),
)
_CHECK = (
    "import sys; from pip._vendor.packaging.specifiers import SpecifierSet; "
    "sys.exit('%d.%d.%d' % sys.version_info[:3] not in SpecifierSet(sys.argv[1]))"
)


class PythonEnvironments:
    """Makes and keeps environments. The installation goes on when the call is given up.

    Packages are installed from wheels only: building one would run foreign code outside of any
    sandbox.

    Args:
        data_dir: The board's data folder; None means a temporary folder until `close`.
        environ: The variables of the process; pip, uv and proxies get the ones they need.
        timeout: Seconds for each installation command.
    """

    def __init__(
        self, data_dir: Path | None, *, environ: Mapping[str, str], timeout: float
    ) -> None:
        self._data_dir = data_dir
        self._environ = environ
        self._timeout = timeout
        self._lock = threading.Lock()
        self._making: dict[str, Future[Path]] = {}
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._running: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[ProcessResult]]] = set()
        self._is_closed = False

    async def ensure(self, needs: Dependencies, *, within: float) -> Path:
        """The interpreter of the environment for these dependencies, which is made if necessary.

        Args:
            needs: The dependencies.
            within: Seconds that this caller waits.

        Raises:
            Unavailable: It is not ready yet; nothing has run.
            SourceUnavailable: It cannot be made; says why.
        """
        made = asyncio.wrap_future(self._future(needs))
        made.add_done_callback(_retrieve_exception)
        try:
            async with asyncio.timeout(within):
                return await asyncio.shield(made)
        except TimeoutError as error:
            raise Unavailable(
                "Its dependencies are still being installed.", retry_after=5.0, nothing_done=True
            ) from error

    def close(self) -> None:
        """Stop running installations; safe to call twice."""
        with self._lock:
            self._is_closed = True
            for loop, task in self._running:
                loop.call_soon_threadsafe(task.cancel)
            if self._temporary is not None:
                self._temporary.cleanup()
                self._temporary = None

    def _future(self, needs: Dependencies) -> "Future[Path]":
        with self._lock:
            if self._is_closed:
                raise SourceUnavailable("the source is closed")
            known = self._making.get(needs.digest)
            # a failed one is tried again: the network may be back
            if known is not None and not (known.done() and known.exception() is not None):
                return known
            future: Future[Path] = Future()
            future.set_running_or_notify_cancel()
            self._making[needs.digest] = future
            folder = self._folder() / needs.digest
        threading.Thread(
            target=self._make, args=(needs, folder, future), name="pegboard-env", daemon=True
        ).start()
        return future

    def _folder(self) -> Path:
        if self._data_dir is not None:
            return self._data_dir / "script-environments"
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(
                prefix="pegboard-environments-", ignore_cleanup_errors=True
            )
        return Path(self._temporary.name)

    def _make(self, needs: Dependencies, folder: Path, future: "Future[Path]") -> None:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _lock_file(folder.with_suffix(".lock")):
                if not (folder / _READY).is_file():
                    shutil.rmtree(folder, ignore_errors=True)
                    self._install(needs, folder)
                    (folder / _READY).touch()
            future.set_result(folder / "bin" / "python")
        except PegboardError as error:
            future.set_exception(error)
        except OSError as error:
            reason = f"its environment cannot be made: {error.strerror or type(error).__name__}"
            failed = SourceUnavailable(reason)
            failed.__cause__ = error
            future.set_exception(failed)

    def _install(self, needs: Dependencies, folder: Path) -> None:
        search = self._environ.get("PATH", PATH)
        python = str(folder / "bin" / "python")
        uv = shutil.which("uv", path=search)
        if uv is not None:
            wanted = needs.requires_python or shutil.which("python3", path=search) or "3"
            # the folder that the board was started in may be a project with settings of its own
            self._run(
                (uv, "venv", "--quiet", "--no-project", "--python", wanted, str(folder)), needs
            )
            install: tuple[str, ...] = (uv, "pip", "install", "--quiet", "--python", python)
            install += ("--no-build",)
        else:
            base = shutil.which("python3", path=search)
            if base is None:
                raise SourceUnavailable(
                    "its dependencies need 'uv' or 'python3' in the PATH to be installed"
                )
            self._run((base, "-m", "venv", str(folder)), needs)
            if needs.requires_python:
                self._run((python, "-c", _CHECK, needs.requires_python), needs)
            install = (python, "-m", "pip", "install", "--quiet", "--no-input")
            install += ("--disable-pip-version-check", "--only-binary=:all:")
        if needs.packages:
            self._run((*install, "--", *needs.packages), needs)

    def _run(self, command: tuple[str, ...], needs: Dependencies) -> None:
        """Run one command to its end.

        Raises:
            SourceUnavailable: It failed, was too slow, or the source was closed; the log has its
                output.
        """
        try:
            result = asyncio.run(self._result_of(command))
        except asyncio.CancelledError:
            raise SourceUnavailable("the source is closed") from None
        if result.stopped:
            raise _install_error(needs, f"it took more than {self._timeout:g} s")
        if result.returncode != 0:
            output = (result.stdout + result.stderr).decode("utf-8", "replace")
            _LOG.error("%s failed: %s", command[0], output[-_LOGGED:])
            raise _install_error(needs, "the log says why", is_logged=True)

    async def _result_of(self, command: tuple[str, ...]) -> ProcessResult:
        spec = ProcessSpec(arguments=command, environment=self._variables(), has_watchdog=True)
        running = run_process(spec, timeout=self._timeout, output_bytes=_LOGGED, stderr="tail")
        with self._lock:
            if self._is_closed:
                running.close()
                raise SourceUnavailable("the source is closed")
            task = asyncio.create_task(running)
            entry = (asyncio.get_running_loop(), task)
            self._running.add(entry)
        try:
            return await task
        finally:
            with self._lock:
                self._running.discard(entry)

    def _variables(self) -> dict[str, str]:
        passed = {
            name: value
            for name, value in self._environ.items()
            if name in _PASSED_VARIABLES or name.startswith(("PIP_", "UV_"))
        }
        return {"PATH": self._environ.get("PATH", PATH), "LANG": "C.UTF-8", **passed}


def _retrieve_exception(made: "asyncio.Future[Path]") -> None:
    """Retrieve the exception, so that asyncio does not warn; the next call gets it."""
    if not made.cancelled():
        made.exception()


@contextlib.contextmanager
def _lock_file(path: Path) -> Generator[None]:
    """Hold a lock among processes; the kernel releases it when one dies."""
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install_error(needs: Dependencies, why: str, *, is_logged: bool = False) -> SourceUnavailable:
    wanted = ", ".join(needs.packages) or "no packages"
    python = f" on Python {needs.requires_python}" if needs.requires_python else ""
    return SourceUnavailable(
        f"its dependencies ({wanted}{python}) cannot be installed: {why}", is_logged=is_logged
    )
