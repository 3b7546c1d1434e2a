"""Tests in forks are the same tests: each runs once, and none is lost with its process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.forks import modules_in_order

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
ENDS = """
import os, signal, warnings
import pytest

@pytest.fixture(scope="module", autouse=True)
def noted(tmp_path_factory):
    yield
    with open({log!r}, "a") as file:
        file.write("tidied\\n")

@pytest.mark.parametrize("number", range(4))
def test_number(number):
    with open({log!r}, "a") as file:
        file.write(f"{name} {{number}}\\n")
    {last}
"""


Ended = subprocess.CompletedProcess[str]


def run(folder: Path, *options: str, **last: str) -> tuple[Ended, list[str]]:
    """Run modules whose tests end with these statements: how it ended, and what they wrote down."""
    options = ("-c", os.devnull, "--rootdir", str(folder), "-p", "tests.forks", *options)
    log = folder / "log"
    log.touch()
    for name, statement in last.items():
        text = ENDS.format(log=str(log), name=name, last=statement)
        (folder / f"test_{name}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:randomly", *options, folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done, log.read_text().splitlines()


def test_each_test_runs_once_and_fixtures_are_torn_down(tmp_path: Path) -> None:
    done, told = run(tmp_path, "--forks", "3", one="pass", two="pass", three="pass", four="pass")

    assert done.returncode == 0, done.stdout
    assert "16 passed" in done.stdout
    assert sorted(told) == sorted(
        [f"{name} {number}" for name in ("one", "two", "three", "four") for number in range(4)]
        + ["tidied"] * 4
    )


def test_what_fails_is_told_with_what_it_printed(tmp_path: Path) -> None:
    last = "print('a hint'); assert number != 2"
    done, told = run(tmp_path, "--forks", "2", one=last, two="pass")

    assert done.returncode == 1
    assert "1 failed, 7 passed" in done.stdout
    assert "assert 2 != 2" in done.stdout
    assert "a hint" in done.stdout
    assert told.count("tidied") == 2


def test_a_process_that_dies_fails_its_test_and_the_others_run(tmp_path: Path) -> None:
    last = "number != 1 or os.kill(os.getpid(), signal.SIGKILL)"
    done, told = run(tmp_path, "--forks", "2", one=last, two="pass")

    assert done.returncode == 1
    assert "1 failed, 7 passed" in done.stdout
    assert "Its process ended with -9" in done.stdout
    assert [line for line in told if line.startswith("one")] == [f"one {n}" for n in range(4)]


def test_a_test_that_interrupts_its_process_fails_alone(tmp_path: Path) -> None:
    last = "number != 1 or pytest.exit('enough')"
    done, told = run(tmp_path, "--forks", "2", one=last, two="pass", three="pass")

    assert done.returncode == 1
    assert "1 failed, 11 passed" in done.stdout
    assert "Its process ended with 1" in done.stdout
    assert len([line for line in told if line != "tidied"]) == 12


def test_a_run_may_end_with_the_first_failure(tmp_path: Path) -> None:
    done, told = run(tmp_path, "--forks", "2", "-x", one="assert False", two="pass")

    assert done.returncode == 1
    assert "1 failed" in done.stdout
    assert "stopping after 1 failures" in done.stdout
    assert "one 1" not in told


class Made(pytest.Item):
    """A test of a module that has no code."""

    def runtest(self) -> None:
        """Do nothing."""


def test_modules_with_slow_tests_are_first_and_the_slowest_of_them(
    request: pytest.FixtureRequest,
) -> None:
    session: Any = request.session
    marks = {"quick": [], "slow": [pytest.mark.slow], "patient": [pytest.mark.timeout(600)]}
    marks["patient"].append(pytest.mark.slow)
    items = [Made.from_parent(session, name=name, path=Path(name)) for name in marks for _ in "ab"]
    for item in items:
        for mark in marks[item.name]:
            item.add_marker(mark)

    ordered = [[item.name for item in module] for module in modules_in_order(items)]

    assert ordered == [["patient"] * 2, ["slow"] * 2, ["quick"] * 2]
