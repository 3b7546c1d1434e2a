"""LangChain's standard tests against tools that Pegboard exports to it.

They bring numpy and plugins of pytest, so they are installed apart. Their interpreter runs them
with this environment first on its path: what is tested is what is installed here.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.peers.node import peer_python

SUITE = Path(__file__).parent / "langchain_suite.py"


@pytest.mark.slow
def test_exported_tools_pass_the_standard_tests_of_langchain(tmp_path: Path) -> None:
    environ = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    command = [peer_python(), "-m", "pytest", SUITE, "-p", "pytest_asyncio.plugin", "-q"]

    done = subprocess.run(
        [*command, "-c", os.devnull, "-o", "asyncio_mode=auto", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "32 passed" in done.stdout
