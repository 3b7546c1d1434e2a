import os
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.models.made import Provider, provider_in_thread
from typer.testing import CliRunner

from pegboard.cli.app import app

Command = Callable[..., "Done"]

TOOLS = '''
from pegboard import ToolContext, ToolFailed, Unavailable, tool


@tool(effect="read", tags=("nice",))
async def greet(name: str, times: int = 1, *, ctx: ToolContext) -> str:
    """Greet somebody.

    Args:
        name: Whom.
    """
    await ctx.progress(1, total=2, message="thinking")
    return " ".join([f"Hello {name}!"] * times)


@tool(effect="write")
def fail() -> str:
    """Always say no."""
    raise ToolFailed("It cannot be done.")


@tool
def crash() -> str:
    """Always break."""
    raise ValueError("the password is hunter2")


@tool
def busy() -> str:
    """Always busy."""
    raise Unavailable("Too busy.")


@tool(effect="admin")
def wipe() -> str:
    """Wipe everything."""
    return "gone"
'''
BOARD = """
sources:
  - {kind: functions, name: my, config: {files: [tools.py]}}
policy: {deny: ["*crash_not*"]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a board."""
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "board.yaml").write_text(BOARD)
    return tmp_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def pegboard(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command in the folder, in this process; `test_process.py` starts real ones."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.with_name(f"{folder.name}-cache")))
    for name in [key for key in os.environ if key.startswith("PEGBOARD_")]:
        monkeypatch.delenv(name)

    def run(*arguments: str, stdin: str = "", **environment: str) -> Done:
        kept = {"PEGBOARD_DATA": "memory", **environment}
        ended = CliRunner().invoke(app, arguments, input=stdin, env=kept)
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            raise ended.exception
        return Done(returncode=ended.exit_code, stdout=ended.stdout, stderr=ended.stderr)

    return run


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Generator[Provider]:
    """A model server in a thread of its own."""
    with provider_in_thread() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        monkeypatch.setenv("PEGBOARD_MODEL", "tiny-1")
        yield provider
