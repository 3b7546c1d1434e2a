"""Secrets come from a pipe where there is one, and else from the terminal without echo."""

import io
import os
import subprocess
import sys

import pytest

from pegboard.cli.read_secret import read_secret
from pegboard.errors import InvalidRequest

PROGRAM = """
import os, sys
from pegboard.cli.read_secret import read_secret

os.open(sys.argv[1], os.O_RDWR)  # of a new session it becomes the controlling terminal
print(read_secret("Value")[::-1])
"""


def test_the_first_line_of_a_pipe_is_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("a secret\r\nmore\n"))

    assert read_secret("Value") == "a secret"


def test_an_empty_pipe_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))

    with pytest.raises(InvalidRequest, match="Value is missing"):
        read_secret("Value")


def test_a_pipe_is_read_though_there_is_a_terminal() -> None:
    pty = pytest.importorskip("pty")
    main, terminal = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, os.ttyname(terminal)],
            input="piped\n",
            capture_output=True,
            text=True,
            timeout=8,
            check=True,
            start_new_session=True,
        )
    finally:
        os.close(main)
        os.close(terminal)

    assert done.stdout == "depip\n"
