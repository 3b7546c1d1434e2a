"""Programs of others against our MCP server: the conformance suite, and MCP Inspector's CLI.

The suite is given a board like any other (`conformance_server/`), served by `pegboard serve` as the
process it is. What it expects of a server by name is registered with `@tool`, `@resource` and
`@prompt`, so every answer has passed registry, pipeline and door.
"""

import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.peers.node import node, node_environ, node_package, node_program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

BOARD = Path(__file__).parent / "conformance_server" / "board.yaml"
SUITE = "@modelcontextprotocol/conformance"
PASSED = 44
"""Checks of the suite 0.1.16: what the everything-server of the Python SDK passes."""

CANNOT_PASS: Mapping[str, str] = {}
"""Scenarios that cannot pass, and why. There are none in this version of the suite."""

WITHOUT_CHECKS = {
    "server-sse-polling": "it checks servers with an event store; streams are not resumed here",
}
"""Scenarios that pass without a check, and why."""


@pytest.fixture(scope="module")
def url() -> Generator[str]:
    """The address of the source `fixtures`, served as itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pegboard", "serve", "--board", str(BOARD), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip().rpartition(" ")[2]
        _wait_for(address)
        yield f"{address}/mcp/fixtures"
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 0


def _wait_for(address: str) -> None:
    for _ in range(100):
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=10):
                return
        except OSError:
            time.sleep(0.1)


def test_the_conformance_suite_passes(url: str, tmp_path: Path) -> None:
    suite = node_package(SUITE) / "dist" / "index.js"
    run = [node(), suite, "server", "--url", url, "--suite", "all"]

    done = subprocess.run(
        run, cwd=tmp_path, env=node_environ(), capture_output=True, text=True, check=False
    )

    found = re.findall(r"^[✓✗] ([\w.-]+): (\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
    failed = {name for name, _, count in found if int(count)}
    empty = {name for name, passed, count in found if passed == count == "0"}
    assert failed == CANNOT_PASS.keys(), done.stdout
    assert empty == WITHOUT_CHECKS.keys(), done.stdout
    assert sum(int(passed) for _, passed, _ in found) == PASSED


TOOL_FAILED = 5
"""How the inspector ends when a result is an error."""


def inspected(*arguments: str, code: int = 0) -> Any:
    """What MCP Inspector's CLI prints."""
    done = subprocess.run(
        [node_program("mcp-inspector"), "--cli", *arguments, "--connect-timeout", "60000"],
        env=node_environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(params=["stdio", "http"])
def served(request: pytest.FixtureRequest, url: str) -> list[str]:
    """How the inspector reaches the board: by starting it, or by its address."""
    if request.param == "http":
        return [url, "--transport", "http"]
    return [sys.executable, "-m", "pegboard", "mcp", "--as", "fixtures", "--board", str(BOARD)]


def test_the_inspector_lists_calls_and_reads(served: list[str]) -> None:
    listed = inspected(*served, "--method", "tools/list")
    called = inspected(*served, "--method", "tools/call", "--tool-name", "test_simple_text")
    read = inspected(*served, "--method", "resources/read", "--uri", "test://static-text")

    tools = {item["name"]: item for item in listed["tools"]}
    assert tools["test_simple_text"]["annotations"]["readOnlyHint"] is True
    assert called["content"][0]["text"] == "This is a simple text response for testing."
    assert read["contents"][0]["text"] == "This is the content of the static text resource."


def test_the_inspector_fills_in_a_prompt_and_sees_what_is_wrong(url: str) -> None:
    served = [url, "--transport", "http"]
    filled = inspected(
        *(*served, "--method", "prompts/get", "--prompt-name", "test_prompt_with_arguments"),
        *("--prompt-args", "arg1=one", "arg2=two"),
    )
    wrong = inspected(
        *(*served, "--method", "tools/call", "--tool-name", "test_sampling"),
        *("--tool-arg", "promt=typo"),
        code=TOOL_FAILED,
    )

    assert filled["messages"][0]["content"]["text"].endswith("arg1='one', arg2='two'")
    assert wrong["isError"] is True
    assert "- prompt: " in wrong["content"][0]["text"]
