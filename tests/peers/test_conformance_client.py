"""The MCP conformance suite against our client."""

import asyncio
import re
from pathlib import Path

import pytest
from tests.peers.conformance_client import answer_scenarios
from tests.peers.node import node_environ, node_program

_TIMED = "sse-retry"
_ALONE = re.compile(r"Passed: (\d+)/\d+, (\d+) failed")
_LINE = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", re.MULTILINE)


async def judged(folder: Path, *which: str) -> dict[str, tuple[int, int]]:
    """How many checks of each scenario passed, and how many did not."""
    async with answer_scenarios(folder) as command, asyncio.timeout(350):
        run = await asyncio.create_subprocess_exec(
            *(node_program("conformance"), "client", "--command", command, *which),
            *("--output-dir", folder),
            env=node_environ(),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed = (await run.communicate())[0].decode()
    if which[0] == "--scenario":
        good, bad = _ALONE.findall(printed)[-1]
        return {which[1]: (int(good), int(bad))}
    found = {name: (int(good), int(bad)) for name, good, bad in _LINE.findall(printed)}
    assert found, printed[-3000:]
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_the_client_passes_every_core_scenario(tmp_path: Path) -> None:
    found = await judged(tmp_path, "--suite", "core")
    for _ in range(3):
        # It measures a pause: on a machine that stood still meanwhile it is measured anew.
        if found[_TIMED] != (3, 0):
            found |= await judged(tmp_path, "--scenario", _TIMED)
    assert [name for name, (_, bad) in found.items() if bad] == []
    assert len(found) == 18
    assert sum(good for good, _ in found.values()) >= 232, "as many checks as the SDK's own client"
