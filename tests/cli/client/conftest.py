"""A real server, started once a module, and the command line beside it."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.conftest import BOARD, TOOLS, Command, Done
from tests.durability.served import Server
from typer.testing import CliRunner

from pegboard.cli.app import app

TOKEN = "a token of this test"
ERASE = """

@tool(effect="admin")
def erase() -> str:
    \"\"\"Erase everything; a test denies it, which holds for later calls too.\"\"\"
    return "erased"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server with a token, and commands that talk to it from another folder."""

    url: str
    folder: Path
    run: Callable[..., Done]


@pytest.fixture(scope="module")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    (folder / "tools.py").write_text(TOOLS + ERASE)
    (folder / "board.yaml").write_text(BOARD)
    return folder


@pytest.fixture(scope="module")
def server(server_folder: Path) -> Iterator[Server]:
    environment = {"PEGBOARD_TOKEN": TOKEN, "PEGBOARD_DATA": "data"}
    with Server(server_folder, environment=environment) as running:
        yield running


@pytest.fixture
def remote(
    server: Server, server_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Runs a command in an empty folder, with the server and its token in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [key for key in os.environ if key.startswith("PEGBOARD_")]:
        monkeypatch.delenv(name)
    given = {"PEGBOARD_URL": str(server.client.base_url), "PEGBOARD_TOKEN": TOKEN}

    def run(*arguments: str, stdin: str = "", **environment: str) -> Done:
        ended = CliRunner().invoke(app, arguments, input=stdin, env={**given, **environment})
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            raise ended.exception
        return Done(returncode=ended.exit_code, stdout=ended.stdout, stderr=ended.stderr)

    return run
