"""Ids of calls are unique: within a process, and in its children."""

import itertools
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

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


def test_ids_are_unique_across_draws_and_threads() -> None:
    ids = CallIds()
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: ids(), range(2_000)))

    assert len(set(drawn)) == 2_000
    assert all(re.fullmatch(r"c_[0-9a-f]{20}", call_id) for call_id in drawn)


def test_an_id_tells_nothing_of_those_before_it() -> None:
    numbers = [int(new_call_id().removeprefix("c_"), 16) for _ in range(600)]

    steps = [after - before for before, after in itertools.pairwise(numbers)]
    assert len(set(steps)) == len(steps)
    assert 0.3 < sum(step > 0 for step in steps) / len(steps) < 0.7


def test_starting_anew_draws_anew() -> None:
    drawn = iter([b"\xaa" * 20, b"\xbb" * 20])
    ids = CallIds(lambda _: next(drawn))
    first = ids()
    ids.renew()

    assert (first, ids()) == (f"c_{'aa' * 10}", f"c_{'bb' * 10}")


@pytest.mark.slow
def test_forked_processes_have_ids_of_their_own() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, check=True
    ).stdout.split()

    assert len(set(printed)) == 4
