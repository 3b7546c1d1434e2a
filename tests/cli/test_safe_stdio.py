"""The command as a process whose streams are closed, full, gone or narrow."""

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard.cli.safe_stdio import safe_streams

pytestmark = pytest.mark.timeout(60)
SHOW = "show my__greet --json"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["--help", SHOW, "tools"])
def test_a_full_disk_is_told_in_a_line(command: str, folder: Path) -> None:
    done = _shell(f"{command} >/dev/full", folder)

    told = "pegboard: the answer cannot be written to stdout: No space left on device"
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1:] == [told]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["--help", SHOW, "tools"])
def test_a_closed_stdout_swallows_the_answer(command: str, folder: Path) -> None:
    done = _shell(f"{command} >&-", folder)

    assert done.returncode == 0
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["chat", "call my__greet -"])
def test_a_closed_stdin_is_one_that_has_ended(command: str, folder: Path) -> None:
    closed, ended = _shell(f"{command} <&-", folder), _shell(f"{command} </dev/null", folder)

    assert "Traceback" not in closed.stderr
    assert (closed.returncode, closed.stderr) == (ended.returncode, ended.stderr)


@pytest.mark.slow
def test_a_closed_stderr_keeps_the_answer_and_the_code(folder: Path) -> None:
    well, wrong = _shell("tools 2>&-", folder), _shell("show nosuch 2>&-", folder)

    assert (well.returncode, wrong.returncode) == (0, 2)
    assert "my__greet" in well.stdout
    assert wrong.stdout == ""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["--help", SHOW, "tools"])
def test_a_reader_that_has_gone_ends_it_without_a_word(command: str, folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [sys.executable, "-m", "pegboard", *command.split()],
        cwd=folder,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)

    assert done.returncode == 1
    assert "Error" not in done.stderr


@pytest.mark.slow
def test_what_fits_no_encoding_is_escaped(folder: Path) -> None:
    (folder / "tools.py").write_text(
        "from pegboard import tool\n\n\n@tool\ndef greet() -> str:\n"
        '    """Greet."""\n    return "gr\\u00fc\\u00df"\n'
    )

    done = _shell("call my__greet", folder, PYTHONIOENCODING="ascii")

    assert (done.returncode, done.stdout) == (0, "gr\\xfc\\xdf\n")


def test_what_else_goes_wrong_is_not_hidden() -> None:
    with pytest.raises(FileNotFoundError), safe_streams():
        Path("/nowhere/at/all").read_text()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EPIPE, errno.EBADF])
def test_the_error_of_a_file_is_not_told_as_one_of_stdout(number: int) -> None:
    before = sys.stdout, sys.stderr
    with pytest.raises(OSError, match="of the data directory") as caught, safe_streams():
        raise OSError(number, "of the data directory")

    assert caught.value.errno == number
    assert (sys.stdout, sys.stderr) == before


@pytest.mark.slow
def test_a_full_stderr_is_not_told_as_stdout(folder: Path) -> None:
    done = _shell("tools 2>/dev/full", folder)

    assert "my__greet" in done.stdout
    assert done.returncode == 1


def _shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f"{shlex.quote(sys.executable)} -m pegboard {command}"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
