import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox.inside import HastyClock, until

from pegboard import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest, SourceUnavailable
from pegboard.registry import ToolRegistry
from pegboard.sandbox import ProbedSandbox
from pegboard.sources.builtin import bind_tools
from pegboard.sources.builtin.sandbox_access import why_no_commands
from pegboard.sources.builtin.tools.shell_exec import availability, probe, shell_exec


@pytest.fixture
async def registry(tmp_path: Path) -> AsyncIterator[ToolRegistry]:
    sandbox = ProbedSandbox()
    if reason := await why_no_commands(Services(sandbox=sandbox)):
        pytest.skip(reason)
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "secret").write_text("the secret")
    yield ToolRegistry(bind_tools(Services(sandbox=sandbox, workspaces=tmp_path / "spaces")))
    await sandbox.close()


async def call(
    registry: ToolRegistry,
    name: str,
    *,
    who: str = "ada",
    workspace: Path | None = None,
    **given: Any,
) -> Any:
    ctx = ToolContext(principal=Principal(id=who), workspace=workspace)
    return (await registry.call(name, given, ctx)).unwrap()


async def test_a_command_works_where_the_file_tools_work(registry: ToolRegistry) -> None:
    await call(registry, "file_write", path="a.txt", content="one\ntwo\n")

    counted = await call(registry, "shell_exec", command="wc -l < a.txt; echo made > b.txt")
    made = await call(registry, "file_read", path="b.txt")

    assert counted == {
        "exit_code": 0, "stdout": "2\n", "stderr": "", "truncated": False, "stopped": "",
    }  # fmt: skip
    assert "made" in str(made)


async def test_callers_do_not_see_each_others_files(registry: ToolRegistry) -> None:
    await call(registry, "shell_exec", command="echo mine > mine.txt")

    other = await call(registry, "shell_exec", command="ls -A; ls -A ..", who="bob")

    assert "mine.txt" not in other["stdout"]
    assert "ada" not in other["stdout"]


async def test_the_calls_workspace_goes_first(registry: ToolRegistry, tmp_path: Path) -> None:
    result = await call(registry, "shell_exec", command="cat secret", workspace=tmp_path / "beside")

    assert result["stdout"] == "the secret"


async def test_what_lies_beside_the_workspace_is_out_of_reach(
    registry: ToolRegistry, tmp_path: Path
) -> None:
    command = f"cat {tmp_path}/beside/secret; cat ../../beside/secret; exit 3"

    result = await call(registry, "shell_exec", command=command)

    assert (result["exit_code"], result["stdout"]) == (3, "")


async def test_an_exit_code_is_an_answer(registry: ToolRegistry) -> None:
    result = await call(registry, "shell_exec", command="echo no >&2; exit 4")

    assert (result["exit_code"], result["stderr"]) == (4, "no\n")


async def test_a_command_is_stopped_in_time(
    registry: ToolRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    clock = HastyClock(loop.time)
    monkeypatch.setattr(loop, "time", clock.time)
    command = "echo before; touch begun; sleep 60"
    running = asyncio.create_task(call(registry, "shell_exec", command=command, timeout_seconds=50))
    await until(lambda: bool(list(tmp_path.rglob("begun"))))

    clock.ahead = 100
    result = await running

    assert (result["stopped"], result["stdout"]) == ("timeout", "before\n")


async def test_long_output_is_cut_and_said_to_be(registry: ToolRegistry) -> None:
    result = await call(registry, "shell_exec", command="head -c 60000 /dev/zero | tr '\\0' x")

    assert (len(result["stdout"]), result["truncated"]) == (50_000, True)


async def test_input_and_output_are_text_whatever_they_are(registry: ToolRegistry) -> None:
    result = await call(registry, "shell_exec", command="cat; printf '\\377'", stdin="é")

    assert result["stdout"] == "é\ufffd"


async def test_a_zero_byte_is_refused(registry: ToolRegistry) -> None:
    with pytest.raises(InvalidRequest, match="zero byte"):
        await call(registry, "shell_exec", command="echo \0")


async def test_without_a_sandbox_it_says_so() -> None:
    assert "needs a sandbox" in availability(Services())
    assert await probe(Services()) == ""
    with pytest.raises(SourceUnavailable, match="needs a sandbox"):
        await shell_exec("true", ToolContext(deps=Services()))
