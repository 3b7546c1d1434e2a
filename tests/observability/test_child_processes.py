"""Counting the processes below this one, in a process of its own: children of other tests end."""

import json
import subprocess
import sys
from typing import Any

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"])
print("two", flush=True)
child.wait()
"""
LIVING = """
import json, subprocess, sys
from pegboard.observability.child_processes import children
before = children()
command = [sys.executable, "-c", sys.argv[1]]
with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
    assert parent.stdout.readline() == b"two\\n"
    during = children()
after = children()
print(json.dumps([[found.number, found.memory] for found in (before, during, after)]))
"""
ENDED = """
import json, os, subprocess, sys
from pegboard.observability.child_processes import children
child = subprocess.Popen([sys.executable, "-c", ""])
os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
ended = children()
child.wait()
print(json.dumps(ended.number))
"""


def test_children_and_theirs_are_counted_until_they_end() -> None:
    before, during, after = counted(LIVING, PARENT)

    assert (before, after) == ([0, 0], [0, 0])
    assert during[0] == 2
    assert during[1] > 2_000_000


def test_a_child_that_nobody_has_collected_yet_is_no_process() -> None:
    assert counted(ENDED) == 0


def counted(code: str, *arguments: str) -> Any:
    """What a program prints."""
    command = [sys.executable, "-c", code, *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
