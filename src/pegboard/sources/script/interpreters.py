"""Finds what runs a script: the described command, the `#!` line, the extension, or the file."""

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from pegboard.errors import SourceUnavailable

EXTENSIONS = {
    ".py": ("python3",),
    ".sh": ("sh",),
    ".bash": ("bash",),
    ".js": ("node",),
    ".mjs": ("node",),
    ".cjs": ("node",),
    ".rb": ("ruby",),
    ".pl": ("perl",),
    ".php": ("php",),
    ".lua": ("lua",),
    ".r": ("Rscript",),
    ".R": ("Rscript",),
}
SCRIPT = "{script}"
PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64")))


def command_of(
    path: Path | None, head: str, *, command: Sequence[str], search: str
) -> tuple[str, ...]:
    """The program and arguments that run a script.

    Args:
        path: The script; None when there is only a command.
        head: The start of the script.
        command: The described command; `{script}` is the script, which otherwise comes last.
        search: The `PATH` to search for programs.

    Raises:
        SourceUnavailable: Nothing says how to run it, or the program is not installed.
    """
    if path is None:
        return _find_program(command, "the command", search)
    if command:
        words = list(command)
        if SCRIPT not in words:
            words.append(SCRIPT)
        words = [str(path) if word == SCRIPT else word for word in words]
        return _find_program(words, path.name, search)
    named = _first_line(head)
    if not named:
        named = EXTENSIONS.get(path.suffix, ())
    if named:
        return _find_program([*named, str(path)], path.name, search)
    if os.access(path, os.X_OK):
        return (str(path),)
    raise SourceUnavailable(
        f"nothing says what runs '{path.name}': begin it with '#!/usr/bin/env PROGRAM', make it "
        "executable, or write 'command: [PROGRAM]' into its description"
    )


def is_python(command: Sequence[str]) -> bool:
    """Whether the program is a Python interpreter."""
    return Path(command[0]).name.startswith("python")


def needs_to_read(program: Path) -> tuple[Path, ...]:
    """The paths that a program outside the system folders has to read."""
    real = program.resolve()
    needed: dict[Path, None] = {}
    for path in (program, real):
        if any(path.is_relative_to(folder) for folder in _SYSTEM):
            continue
        prefix = path.parent.parent
        is_python_home = (prefix / "pyvenv.cfg").is_file() or any(prefix.glob("lib/python3*"))
        needed[prefix if path.parent.name == "bin" and is_python_home else path] = None
    return tuple(needed)


def _first_line(head: str) -> tuple[str, ...]:
    """The program of a `#!` line without `env`: the board's PATH is searched for it."""
    if not head.startswith("#!"):
        return ()
    words = shlex.split(head[2:].partition("\n")[0])
    if words and Path(words[0]).name == "env":
        words = words[1:]
        if words[:1] == ["-S"]:
            words = words[1:]
    return tuple(words)


def _find_program(words: Sequence[str], whose: str, search: str) -> tuple[str, ...]:
    program = _program(words[0], search)
    if program is None:
        raise SourceUnavailable(
            f"{whose} needs the program '{words[0]}', which is not in the PATH; install it, or "
            "write another 'command' into the description"
        )
    return (program, *words[1:])


def _program(name: str, search: str) -> str | None:
    """The program itself rather than the shim of a version manager."""
    folders = search.split(os.pathsep)
    direct = os.pathsep.join(
        folder for folder in folders if not folder.rstrip(os.sep).endswith(f"{os.sep}shims")
    )
    return shutil.which(name, path=direct) or shutil.which(name, path=search)
