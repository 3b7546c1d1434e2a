"""Processes are found by their parent or their mark, and killed with all that they started."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard.concurrency.process_tree import VARIABLE, ProcessTree, append_mark, new_mark

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="there is no /proc here"
)
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"])
print("two", flush=True)
child.wait()
"""
LIVING = """
import json, os, subprocess, sys
from pegboard.concurrency.process_tree import descendants
before = descendants(os.getpid())
command = [sys.executable, "-c", sys.argv[1]]
with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
    assert parent.stdout.readline() == b"two\\n"
    during = descendants(os.getpid())
after = descendants(os.getpid())
print(json.dumps([[item.resident for item in found] for found in (before, during, after)]))
"""
ENDED = """
import json, os, subprocess, sys
from pegboard.concurrency.process_tree import descendants
child = subprocess.Popen([sys.executable, "-c", ""])
os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
ended = descendants(os.getpid())
child.wait()
print(json.dumps(len(ended)))
"""


@pytest.mark.slow
def test_descendants_are_all_below_a_process_until_they_end() -> None:
    before, during, after = printed(LIVING, PARENT)

    assert (before, after) == ([], [])
    assert len(during) == 2
    assert sum(during) > 2_000_000


@pytest.mark.slow
def test_a_child_that_nobody_has_collected_yet_is_no_process() -> None:
    assert printed(ENDED) == 0


def printed(code: str, *arguments: str) -> Any:
    """What a program prints: in a process of its own, as children of other tests end meanwhile."""
    command = [sys.executable, "-c", code, *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def test_a_tree_has_no_stranger_in_it() -> None:
    mark = new_mark()
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    child = subprocess.Popen(
        ["sh", "-c", "sleep 60 & exec sleep 60"], env={"PATH": os.defpath, VARIABLE: mark}
    )
    try:
        tree = ProcessTree(child.pid, mark)
        tree.refresh()
        tree.kill()

        assert child.wait(5) == -signal.SIGKILL
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_board_within_a_server_of_a_board_keeps_the_mark_above() -> None:
    module = "pegboard.concurrency.process_tree"
    code = f"from {module} import append_mark; print(append_mark('below'))"
    environment = {**os.environ, VARIABLE: "above"}
    inner = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )

    assert inner.stdout == "above.below\n"
    assert append_mark("alone").endswith("alone")


def test_without_proc_nothing_is_found(tmp_path: Path) -> None:
    ProcessTree(os.getpid(), new_mark(), proc=tmp_path / "nowhere").kill()

    assert append_mark("a", proc=tmp_path / "nowhere") == "a"


def test_a_number_that_another_process_has_by_now_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    stat = tmp_path / str(stranger.pid) / "stat"
    stat.parent.mkdir()
    fields = ["S", "1", *["0"] * 17]
    try:
        stat.write_text(f"{stranger.pid} (server) {' '.join(fields)} 500 0 0\n")
        tree = ProcessTree(stranger.pid, new_mark(), proc=tmp_path)
        assert not tree.is_replaced()

        stat.write_text(f"{stranger.pid} (stranger) {' '.join(fields)} 900 0 0\n")
        tree.kill()

        assert tree.is_replaced()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
