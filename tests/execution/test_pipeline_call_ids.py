"""Ids of calls are unique: within a process, and in its children."""

import re
import subprocess
import sys

import pytest

from pegboard.execution.pipeline import CallIds, new_call_id

FORKING = """
import os
from pegboard.execution.pipeline import new_call_id
print(new_call_id(), flush=True)
for _ in range(2):
    child = os.fork()
    if child == 0:
        print(new_call_id(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print(new_call_id())
"""


def test_ids_are_unique_and_count_up() -> None:
    first, second = new_call_id(), new_call_id()

    prefix, _, number = first.rpartition("_")
    assert re.fullmatch(r"c_[0-9a-f]{20}", prefix)
    assert second == f"{prefix}_{int(number) + 1}"


def test_starting_anew_takes_another_prefix() -> None:
    drawn = iter(["aa", "bb"])
    ids = CallIds(lambda _: next(drawn))
    first = ids()
    ids.renew()

    assert (first, ids()) == ("c_aa_1", "c_bb_1")


@pytest.mark.slow
def test_forked_processes_have_ids_of_their_own() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, check=True
    ).stdout.split()

    prefixes = [call_id.rpartition("_")[0] for call_id in printed]
    assert len(set(printed)) == 4
    assert len(set(prefixes)) == 3
    assert prefixes[0] == prefixes[3]
