"""The command as a process of its own, as a shell starts it."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_the_command_runs_as_a_module_and_ends_with_the_code_of_its_outcome(folder: Path) -> None:
    command = [sys.executable, "-m", "pegboard", "call", "my__greet"]

    well = subprocess.run(
        [*command, '{"name": "Ada"}'], cwd=folder, capture_output=True, text=True, check=False
    )
    wrong = subprocess.run(
        [*command, "{}"], cwd=folder, capture_output=True, text=True, check=False
    )

    assert (well.returncode, well.stdout) == (0, "Hello Ada!\n")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "name: missing" in wrong.stderr
