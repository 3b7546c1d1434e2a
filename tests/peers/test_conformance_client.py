"""The MCP conformance suite against our client."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.peers.node import node_environ, node_program

HERE = Path(__file__).parent
_LINE = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", re.MULTILINE)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_client_passes_every_core_scenario_but_those_that_are_listed(tmp_path: Path) -> None:
    listed = tomllib.loads((HERE / "conformance_client.toml").read_text(encoding="utf-8"))
    command = f"{sys.executable} {HERE / 'conformance_client.py'}"

    run = subprocess.run(
        [
            *(node_program("conformance"), "client", "--command", command, "--suite", "core"),
            *("--output-dir", tmp_path),
        ],
        env=node_environ(),
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=230,
    )

    found = {name: (int(good), int(bad)) for name, good, bad in _LINE.findall(run.stdout)}
    assert set(found) > set(listed["scenarios"]), run.stdout[-3000:] + run.stderr[-3000:]
    assert {name for name, (_, bad) in found.items() if bad} == set(listed["scenarios"])
    passing = {name: counts for name, counts in found.items() if name not in listed["scenarios"]}
    assert passing == {
        "initialize": (1, 0),
        "tools_call": (1, 0),
        "elicitation-sep1034-client-defaults": (5, 0),
        "sse-retry": (3, 0),
    }


def test_every_listed_scenario_has_a_reason() -> None:
    listed = tomllib.loads((HERE / "conformance_client.toml").read_text(encoding="utf-8"))

    assert set(listed["scenarios"].values()) == set(listed["reasons"])
