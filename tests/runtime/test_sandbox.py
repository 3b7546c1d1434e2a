"""The sandbox of a board: what its file says of it, and what its tools find."""

from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.board_file.models import SandboxEntry
from pegboard.runtime.wiring.services import create_sandbox

BUILTIN = "sources: [{kind: builtin, name: std, config: {include: [shell_exec, python_exec]}}]\n"


def board(folder: Path, text: str = "") -> Path:
    path = folder / "board.yaml"
    path.write_text(BUILTIN + text)
    return path


async def test_a_boards_shell_works_in_the_callers_workspace(tmp_path: Path) -> None:
    path = board(tmp_path)
    async with Pegboard(path, data=tmp_path / "data", settings=Settings()) as opened:
        if reason := opened.find("std__shell_exec").spec.unavailable:
            pytest.skip(reason)
        result = await opened.call("std__shell_exec", {"command": "echo hi > a; pwd"})

    assert Path(result.unwrap()["stdout"].strip()).parent == tmp_path / "data" / "workspace"


async def test_what_the_board_does_not_allow_is_unavailable_and_says_so(tmp_path: Path) -> None:
    path = board(tmp_path, "sandbox: {back_ends: []}\n")
    async with Pegboard(path, settings=Settings()) as opened:
        shell = await opened.call("std__shell_exec", {"command": "true"})
        code = await opened.call("std__python_exec", {"code": "1"})
        found = await opened.sandbox_findings()

    assert found == []
    for result in (shell, code):
        assert result.error is not None
        assert result.error.code == "source_unavailable"
        assert "back_ends" in result.text


async def test_every_back_end_is_reported(tmp_path: Path) -> None:
    async with Pegboard(board(tmp_path), settings=Settings()) as opened:
        found = await opened.sandbox_findings()

    assert [item.back_end for item in found] == ["bubblewrap", "landlock", "monty"]


async def test_an_unknown_back_end_is_refused_with_its_line(tmp_path: Path) -> None:
    path = board(tmp_path, "sandbox: {back_ends: [docker]}\n")

    with pytest.raises(ConfigError, match=r"board\.yaml:2.*bubblewrap"):
        async with Pegboard(path, settings=Settings()):
            pass


async def test_a_changed_sandbox_needs_a_restart(tmp_path: Path) -> None:
    async with Pegboard(board(tmp_path), settings=Settings()) as opened:
        board(tmp_path, "sandbox: {network: true}\n")

        with pytest.raises(ConfigError, match="a changed sandbox requires a restart"):
            await opened.reload()


async def test_the_network_is_granted_by_the_board_alone() -> None:
    closed = create_sandbox(SandboxEntry())
    opened = create_sandbox(SandboxEntry(network=True))

    assert "network: true" in await closed.why_no_commands(network=True)
    assert "network: true" not in await opened.why_no_commands(network=True)
