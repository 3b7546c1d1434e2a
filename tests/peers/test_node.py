import subprocess

import pytest
from tests.peers.node import (
    node,
    node_environ,
    node_package,
    node_program,
    peer_python,
)


def test_the_node_of_the_peers_runs() -> None:
    version = subprocess.run([node(), "--version"], capture_output=True, check=True, text=True)

    assert version.stdout.startswith("v24.")


@pytest.mark.slow
def test_programs_of_peers_run_on_that_node() -> None:
    run = [node_program("prism"), "--version"]

    shown = subprocess.run(run, env=node_environ(), capture_output=True, check=True, text=True)

    assert shown.stdout.strip()


def test_the_peer_environment_has_the_older_sdk() -> None:
    code = "from importlib.metadata import version; print(version('mcp'))"

    shown = subprocess.run([peer_python(), "-c", code], capture_output=True, check=True, text=True)

    assert shown.stdout.startswith("1.")


def test_what_is_missing_names_the_target() -> None:
    with pytest.raises(RuntimeError, match="make peers"):
        node_package("no-such-package")
    with pytest.raises(RuntimeError, match="make peers"):
        node_program("no-such-program")
