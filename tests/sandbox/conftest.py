from collections.abc import AsyncIterator

import pytest

from pegboard.sandbox import BACK_ENDS, ProbedSandbox

_PROBED: dict[str, ProbedSandbox] = {}
"""One for each back end, probed by the first test that needs it."""


@pytest.fixture(params=[item.name for item in BACK_ENDS])
async def sandbox(request: pytest.FixtureRequest) -> ProbedSandbox:
    """Each back end for commands that works on this machine."""
    probed = _PROBED.setdefault(request.param, ProbedSandbox(allowed=[request.param]))
    reason = await probed.why_no_commands()
    if reason:
        pytest.skip(reason)
    return probed


@pytest.fixture
async def code_sandbox() -> AsyncIterator[ProbedSandbox]:
    """The engine for Python code, where it is installed."""
    probed = ProbedSandbox(allowed=["monty"])
    reason = await probed.why_no_code()
    if reason:
        pytest.skip(reason)
    yield probed
    await probed.close()
