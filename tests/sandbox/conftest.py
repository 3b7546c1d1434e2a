import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.sandbox.inside import HastyClock

from pegboard.sandbox import BACK_ENDS, ProbedSandbox

_PROBED: dict[str, ProbedSandbox] = {}
"""One for each back end, probed by the first test that needs it."""


@pytest.fixture(scope="session")
def temporary() -> Iterator[Path]:
    """A short path, as the names of sockets need it."""
    with tempfile.TemporaryDirectory(prefix="pb-") as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def folders_of_jobs_are_apart(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that tests that run beside these do not see them, and the other way round."""
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))


@pytest.fixture(params=[item.name for item in BACK_ENDS])
async def sandbox(request: pytest.FixtureRequest) -> ProbedSandbox:
    """Each back end for commands that works on this machine."""
    probed = _PROBED.setdefault(request.param, ProbedSandbox(allowed=[request.param]))
    reason = await probed.why_no_commands()
    if reason:
        pytest.skip(reason)
    return probed


@pytest.fixture
def common(tmp_path: Path) -> Path:
    """A folder that everybody on the machine may write to, as jobs have users of their own."""
    tmp_path.chmod(0o777)
    return tmp_path


@pytest.fixture
async def hasty(monkeypatch: pytest.MonkeyPatch) -> HastyClock:
    """The time of the running loop, for a test to let pass."""
    loop = asyncio.get_running_loop()
    clock = HastyClock(loop.time)
    monkeypatch.setattr(loop, "time", clock.time)
    return clock


@pytest.fixture
async def code_sandbox() -> AsyncIterator[ProbedSandbox]:
    """The engine for Python code, where it is installed."""
    probed = ProbedSandbox(allowed=["monty"])
    reason = await probed.why_no_code()
    if reason:
        pytest.skip(reason)
    yield probed
    await probed.close()
