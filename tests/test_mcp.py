"""`python -m pegboard.mcp`: the built-in tools, without a board."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from pegboard.mcp import main

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


async def test_the_built_in_tools_are_served_over_stdio(tmp_path: Path) -> None:
    (tmp_path / "board.yaml").write_text("no: board")  # a board is not looked for
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "pegboard.mcp"],
        cwd=tmp_path,
        env={"PEGBOARD_BOARD": "board.yaml"},
    )
    async with Client(stdio_client(server)) as client:
        names = [item.name for item in (await client.list_tools()).tools]
        result = await client.call_tool("calculator", {"expression": "6 * 7"})

    assert "calculator" in names
    assert not [name for name in names if name.startswith("builtin__")]
    assert json.loads(result.content[0].text) == 42  # type: ignore[union-attr]  # it is text


async def test_the_built_in_tools_are_served_over_http() -> None:
    process = _listening()
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip().rpartition(" ")[2]
        async with Client(f"{url}/mcp") as client:
            names = [item.name for item in (await client.list_tools()).tools]
    finally:
        process.terminate()
        process.communicate(timeout=40)

    assert "echo" in names
    assert process.returncode == 0


def _listening() -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "pegboard.mcp", "--http", "0"], stdout=subprocess.PIPE, text=True
    )


def test_what_is_wrong_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PEGBOARD_PROT", "1")

    assert main(["--http", "0"]) == 2
    assert capsys.readouterr().err == "pegboard: PEGBOARD_PROT: did you mean PEGBOARD_PORT?\n"
