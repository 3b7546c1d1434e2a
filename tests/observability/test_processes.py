"""Counting the processes below this one."""

import subprocess
import sys

from pegboard.observability.processes import children

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"])
print("two", flush=True)
child.wait()
"""


def test_children_and_theirs_are_counted_until_they_end() -> None:
    before = children()
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"two\n"
        during = children()
    after = children()

    assert during.number - before.number == 2
    assert during.memory - before.memory > 2_000_000
    assert after.number == before.number


def test_a_child_that_nobody_has_collected_yet_is_no_process() -> None:
    before = children()
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read()  # its end: whoever held the other side is gone
    during = wait_until_it_ends(child.pid)
    child.wait()
    child.stdout.close()

    assert during == before.number


def wait_until_it_ends(process: int) -> int:
    """How many children there are once this one has ended; it stays uncollected."""
    import os

    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    return children().number
