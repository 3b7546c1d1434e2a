"""Runs the tests in processes that are forked once all of them are collected: `--forks N`.

Workers of pytest-xdist collect for themselves, which takes each half a minute of a processor. A
fork has all that the first process has imported, so that more of them than processors cost
nothing, and none of the processors is idle while some tests wait.
"""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import Any

import pytest

Module = Sequence[pytest.Item]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    told = "Run the modules of tests in N processes, those with slow tests first."
    parser.getgroup("forks").addoption("--forks", type=int, default=0, metavar="N", help=told)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in forks, where that was asked for and every module could be collected."""
    count: Any = session.config.getoption("forks")
    if not count or session.testsfailed or session.config.getoption("collectonly"):
        return None
    _Run(session).run(count)
    return True


def modules_in_order(items: Sequence[pytest.Item]) -> list[Module]:
    """The tests of each module; modules with slow tests first, the slowest of them before others.

    Begun last, a module that takes a minute would leave the other processes with nothing to do.
    """
    modules: dict[object, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    return sorted(modules.values(), key=_patience, reverse=True)


def _patience(module: Module) -> float:
    """The longest limit of a module's slow tests, in seconds; 0 when none is slow."""
    return max((_limit(item) for item in module if item.get_closest_marker("slow")), default=0)


def _limit(item: pytest.Item) -> float:
    timeout = item.get_closest_marker("timeout")
    return float(timeout.args[0]) if timeout is not None and timeout.args else 10


@dataclass
class _Fork:
    """A process, with the tests of its module that it has not finished yet."""

    pid: int
    number: int
    left: list[pytest.Item]
    has_ended: bool = False


class _Run:
    """One run, in the process that has collected the tests and reports about them."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._modules = modules_in_order(session.items)
        self._work, self._rest = os.pipe()  # every fork reads from it which module is next
        os.write(self._rest, b"".join(n.to_bytes(2) for n in range(len(self._modules))))
        os.close(self._rest)
        self._forks: dict[Connection, _Fork] = {}

    def run(self, count: int) -> None:
        """Run all tests in so many forks; a fork that dies is replaced."""
        gc.collect()
        gc.freeze()  # what is there by now is shared with the forks, as long as nobody writes to it
        for number in range(min(count, len(self._modules))):
            self._fork(number, [])
        try:
            while self._forks:
                for told in wait(list(self._forks)):
                    assert isinstance(told, Connection)
                    self._hear(told)
        finally:
            for fork in self._forks.values():
                os.kill(fork.pid, signal.SIGTERM)
            os.close(self._work)

    def _fork(self, number: int, first: list[pytest.Item]) -> None:
        told, tells = Pipe(duplex=False)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        pid = os.fork()
        if pid == 0:
            try:
                _become_fork(self._session, tells, number)
                _run_modules(self._session, self._modules, self._work, tells, first)
                _end_fork(self._session, tells)
            finally:  # whatever a test raised: what follows is work of the first process alone
                os._exit(1)
        tells.close()
        self._forks[told] = _Fork(pid=pid, number=number, left=list(first))

    def _hear(self, told: Connection) -> None:
        fork = self._forks[told]
        try:
            kind, value = told.recv()
        except EOFError:
            self._end(told, fork)
            return
        if kind == "module":
            fork.left = list(self._modules[value])
        elif kind == "finished":
            del fork.left[0]
        elif kind == "report":
            self._report(fork, value)
        else:
            fork.has_ended = True
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)

    def _report(self, fork: _Fork, data: Any) -> None:
        config = self._session.config
        report = config.hook.pytest_report_from_serializable(config=config, data=data)
        # pytest prints reports with a node as those of tests that run at the same time
        name = f"fork{fork.number}"
        gateway = SimpleNamespace(id=name)
        report.node = SimpleNamespace(gateway=gateway, _workerinfocache=f"[{name}]")
        config.hook.pytest_runtest_logreport(report=report)

    def _end(self, tells: Connection, fork: _Fork) -> None:
        del self._forks[tells]
        tells.close()
        _, status = os.waitpid(fork.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if fork.has_ended:
            return
        if not fork.left:
            self._session.shouldfail = f"A process of tests ended with {code} between two modules"
            raise self._session.Failed(self._session.shouldfail)
        died, *left = fork.left
        call = pytest.CallInfo.from_call(
            lambda: pytest.fail(f"Its process ended with {code}"), "call"
        )
        config = self._session.config
        report = config.hook.pytest_runtest_makereport(item=died, call=call)
        data = config.hook.pytest_report_to_serializable(config=config, report=report)
        self._report(fork, data)
        self._fork(fork.number, left)


def _become_fork(session: pytest.Session, tells: Connection, number: int) -> None:
    """Let go of what belongs to the process that collected the tests."""
    atexit._clear()  # as `multiprocessing` does
    manager = session.config.pluginmanager
    capture: Any = manager.getplugin("capturemanager")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (capture._global_capturing.out, capture._global_capturing.err)):
        with TemporaryFile(buffering=0) as own:  # modules may hold `sys.stderr`: the object stays
            os.dup2(own.fileno(), stream.tmpfile.fileno())
        os.dup2(nowhere, stream.targetfd_save)
        os.dup2(nowhere, stream.targetfd)
    os.close(nowhere)
    manager.register(_Teller(session.config, tells))
    factory: Any = vars(session.config)["_tmp_path_factory"]
    factory._basetemp = factory.getbasetemp() / f"fork{number}"
    factory._basetemp.mkdir(mode=0o700, exist_ok=True)
    if controller := _coverage_of(session.config):
        import coverage

        measured: Any = controller.cov
        measured.stop()
        controller.cov = coverage.Coverage(data_suffix=True, config_file=controller.cov_config)
        controller.cov._warn_unimported_source = False
        controller.cov.start()


def _run_modules(
    session: pytest.Session,
    modules: Sequence[Module],
    work: int,
    tells: Connection,
    first: Module,
) -> None:
    """Run what is left of a module, then other modules until none is left or the run may end."""
    todo = chain([first], _taken(modules, work, tells))
    for item, following in chain.from_iterable(
        pairwise([*module, _elsewhere(module, modules)]) for module in todo
    ):
        assert item is not None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        tells.send(("finished", None))
        if session.shouldfail:  # the first process ends the run when it hears of the failure
            break
    state: Any = session._setupstate
    state.teardown_exact(None)
    tells.send(("ended", None))


def _elsewhere(module: Module, modules: Sequence[Module]) -> pytest.Item | None:
    """A test of another room, told to be the next, so that only fixtures of the session stay."""
    return next((other[0] for other in modules if module and _room(other) != _room(module)), None)


def _room(module: Module) -> Sequence[str]:
    return module[0].path.relative_to(module[0].config.rootpath).parts[:2]


def _taken(modules: Sequence[Module], work: int, tells: Connection) -> Iterator[Module]:
    while number := os.read(work, 2):
        index = int.from_bytes(number)
        tells.send(("module", index))
        yield modules[index]


def _end_fork(session: pytest.Session, tells: Connection) -> None:
    if controller := _coverage_of(session.config):
        controller.cov.stop()
        controller.cov.save()
    tells.close()
    atexit._run_exitfuncs()
    os._exit(0)


def _coverage_of(config: pytest.Config) -> Any:
    """What pytest-cov measures with, where something is measured."""
    plugin: Any = config.pluginmanager.getplugin("_cov")
    return plugin.cov_controller if plugin is not None else None


class _Teller:
    """Sends the reports of a fork, in which nothing else speaks."""

    def __init__(self, config: pytest.Config, tells: Connection) -> None:
        self._config = config
        self._tells = tells

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Send a report."""
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._tells.send(("report", data))
