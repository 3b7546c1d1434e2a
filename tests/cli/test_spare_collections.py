"""A short command collects no garbage; a long one does as Python does."""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard.cli.spare_collections import spare_loaded_modules

_PROGRAM = """
import gc, json
from pegboard.cli.spare_collections import START_OBJECTS, spare_collections, spare_loaded_modules

def count():
    return sum(one["collections"] for one in gc.get_stats())

usual = gc.get_threshold()
gc.collect()
spare_collections()
before = count()
kept = [[] for _ in range(START_OBJECTS // 2)]
short = count() - before
spare_loaded_modules()
frozen = gc.get_freeze_count()
kept += [[] for _ in range(START_OBJECTS)]
before = count()
kept += [[] for _ in range(10_000)]
print(json.dumps({
    "short": short, "frozen": frozen,
    "usual": gc.get_threshold() == usual, "long": count() - before,
}))
"""

_TOOLS = '''
from pegboard import tool

LOG = open("log.txt", "w")  # never closed


@tool(effect="write")
def note(text: str) -> None:
    """Note something."""
    LOG.write(text)


KEEP = lambda: KEEP  # a cycle that holds the module's names
'''


@pytest.fixture(scope="module")
def counted() -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def test_a_start_collects_nothing(counted: dict[str, int]) -> None:
    assert counted["short"] == 0


@pytest.mark.slow
def test_a_long_command_collects_as_python_does(counted: dict[str, int]) -> None:
    assert counted["usual"]
    assert counted["long"] >= 10


def test_what_the_start_loaded_is_not_looked_through_again(counted: dict[str, int]) -> None:
    assert counted["frozen"] > 100_000


def test_nothing_is_left_out_where_collections_are_not_put_off() -> None:
    before = gc.get_freeze_count()

    spare_loaded_modules()

    assert gc.get_freeze_count() == before


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_file_that_a_tool_leaves_open_is_written_at_the_exit(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(_TOOLS)
    (tmp_path / "board.yaml").write_text(
        "sources: [{kind: functions, name: my, config: {files: [tools.py]}}]"
    )

    subprocess.run(
        [sys.executable, "-m", "pegboard", "call", "my__note", "--arg", "text=kept"],
        cwd=tmp_path,
        env={**os.environ, "PEGBOARD_DATA": "memory"},
        capture_output=True,
        check=True,
    )

    assert (tmp_path / "log.txt").read_text() == "kept"
