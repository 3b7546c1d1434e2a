"""A process that has imported `pegboard`, and forks for each command that `warm_commands.py` sends.

Run as `python warm_program.py SOCKET COMMAND`. It ends when its stdin is closed.
"""

import json
import os
import random
import select
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = (
    "docstring_parser",
    "pegboard.cli.client.connect",
    "pegboard.cli.client.local",
    "pegboard.cli.options",
    "pegboard.cli.output.tables",
    "pegboard.runtime.standalone.builtin",
    "pegboard.runtime.pegboard",
    "pegboard.runtime.wiring.offline",
    "pegboard.sources.builtin.source",
    "pegboard.sources.functions.source",
    "pegboard.storage.databases.sqlite_file",
    "pegboard.storage.migrate",
    "pegboard.storage.sql.history",
)


def serve(address: str, command: str) -> None:
    """Fork for each connection until stdin is closed."""
    from pegboard.cli import main

    for module in MODULES:
        import_module(module)
    sys.path[0] = str(Path(command).parent)  # as for the command itself
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                if _attend(connection, command):
                    sys.exit(main())
            connection.close()


def _attend(connection: socket.socket, command: str) -> bool:
    """Become the command in a fork, and answer with its exit code; end it when its caller ends."""
    said, files, _, _ = socket.recv_fds(connection, 1_000_000, 3)
    ended, ends = os.pipe()
    child = os.fork()
    if child == 0:
        connection.close()
        _become(json.loads(said), files, command)
        return True
    os.close(ends)
    for file in files:
        os.close(file)
    if ended not in select.select([connection, ended], [], [])[0]:
        os.kill(child, signal.SIGTERM)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.sendall(str(code if code >= 0 else 128 - code).encode())
    os._exit(0)


def _become(request: dict[str, Any], files: list[int], command: str) -> None:
    """Take over what a process is given when it starts."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [command, *request["arguments"]]
    random.seed()


if __name__ == "__main__":
    serve(*sys.argv[1:])
