"""What every test gets: time that stands still, names that do not resolve, one way to explore.

The rules that need no code stand in `pyproject.toml`: warnings are errors, the order is random,
ten seconds a test, and `connect` reaches nothing but loopback and Unix sockets.
"""

import gc
import os
import socket
from collections import Counter
from collections.abc import Generator, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from pegboard.concurrency import log_once
from pegboard.testing import FakeClock

# A shared machine makes wall-clock deadlines and "data generation is slow" say nothing about us.
_PATIENT: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, print_blob=True, **_PATIENT)
settings.register_profile("explore", max_examples=2000, **_PATIENT)
os.environ.setdefault("PEGBOARD_DATA", "memory")  # no command leaves a data directory in the tree
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

pytest_plugins = ["tests.forks"]

_MEASURED = "COVERAGE_PROCESS_CONFIG"
"""The variable by which coverage measures child processes."""

_DOCS = Path(__file__).parent / "docs"
_POSTGRES = {"postgres", "postgres_server", "own_postgres", "own_server"}
_LOCAL_NAMES = {"", "localhost", "localhost.localdomain"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse ids that hold an address: no two processes would agree on the list of tests."""
    if nameless := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError("Give these cases ids of their own:\n" + "\n".join(nameless))
    for item in items:
        if not _is_measured(item):
            item.add_marker(pytest.mark.no_cover)
        if _needs_postgres(item) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(180))  # the first of them pays for its start


def _is_measured(item: pytest.Item) -> bool:
    """Whether the lines that a test runs count as covered.

    Measured, a test takes half as long again. Slow tests, examples and tests with many random
    examples run for long and reach few lines that no other test reaches.
    """
    if item.get_closest_marker("slow") is not None or item.path.is_relative_to(_DOCS):
        return False
    return not getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


def _needs_postgres(item: pytest.Item) -> bool:
    params: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    fixtures = getattr(item, "fixturenames", ())
    return "postgres" in params.values() or not _POSTGRES.isdisjoint(fixtures)


def pytest_collection() -> None:
    """Nothing that is collected is garbage: looking for some takes a fifth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Ten thousand tests are no garbage: leave them out of what is looked through for some."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_runtest_setup() -> None:
    """What fails is told as new in each test, whatever a test before it was told."""
    log_once._logged.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Leave the programs that an unmeasured test starts unmeasured too."""
    measured = os.environ.get(_MEASURED)
    if measured is None or item.get_closest_marker("no_cover") is None:
        return (yield)
    del os.environ[_MEASURED]
    try:
        return (yield)
    finally:
        os.environ[_MEASURED] = measured


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say in the last lines how many tests were skipped, and why."""
    reasons = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
    )
    for reason, count in sorted(reasons.items()):
        tests = "test" if count == 1 else "tests"
        terminalreporter.write_line(f"SKIPPED {count} {tests}: {reason}")


@pytest.fixture
def clock() -> FakeClock:
    """Time that a test moves by hand."""
    return FakeClock()


@pytest.fixture(autouse=True, scope="session")
def no_name_resolves_beyond_this_machine() -> Iterator[None]:
    """Every lookup but `localhost` and literal addresses fails, as on a machine without DNS.

    The guard on `connect` comes too late for this: the lookup alone leaves the machine.
    """
    patch = pytest.MonkeyPatch()
    for function in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        patch.setattr(socket, function, _only_local(getattr(socket, function)))
    yield
    patch.undo()


def _only_local(lookup: Any) -> Any:
    def guarded(host: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_local(host):
            return lookup(host, *args, **kwargs)
        raise socket.gaierror(socket.EAI_NONAME, "Tests resolve no names beyond this machine")

    return guarded


def _is_local(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name is None or name.lower() in _LOCAL_NAMES:
        return True
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True
