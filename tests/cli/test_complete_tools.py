"""Names of tools are completed from what was seen last, or by a running server."""

import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Command

pytestmark = pytest.mark.timeout(60)
Complete = Callable[..., list[str]]
MAIN = "import sys; sys.argv = ['pegboard']; from pegboard.cli.app import main; main()"


@pytest.fixture
def complete(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Complete:
    """Asks for the completions of a command line, as bash does."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.with_name(f"{folder.name}-cache")))

    def run(words: str, **environment: str) -> list[str]:
        count = len(words.split()) - (not words.endswith(" "))
        told = {
            "_PEGBOARD_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(count),
        }
        done = subprocess.run(
            [sys.executable, "-c", MAIN],
            cwd=folder,
            env={**os.environ, **told, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        return done.stdout.split()

    return run


@pytest.mark.slow
def test_nothing_is_completed_before_the_board_was_seen(complete: Complete) -> None:
    assert complete("pegboard call my__") == []


@pytest.mark.slow
@pytest.mark.parametrize("command", ["call", "show", "explain"])
def test_names_are_completed_as_the_board_was_seen_last(
    command: str, complete: Complete, pegboard: Command, folder: Path
) -> None:
    pegboard("tools")

    assert complete(f"pegboard {command} my__c") == ["my__crash"]
    (cache,) = folder.with_name(f"{folder.name}-cache").glob("pegboard/tools/*")
    assert cache.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_a_running_server_is_asked(complete: Complete, folder: Path) -> None:
    command = [sys.executable, "-m", "pegboard", "serve", "--port", "0", "--data", "data"]
    with subprocess.Popen(
        [*command, "--log", "off"], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip().rpartition(" ")[2]
        urllib.request.urlopen(f"{url}/healthz", timeout=30).close()
        by_data = complete("pegboard call --data data my__gr")
        by_url = complete("pegboard call my__b", PEGBOARD_URL=url)
        server.terminate()

    assert (by_data, by_url) == (["my__greet"], ["my__busy"])


@pytest.mark.slow
def test_a_wrong_setting_completes_nothing_and_says_nothing(complete: Complete) -> None:
    assert complete("pegboard call my__", PEGBOARD_TOKN="x") == []
