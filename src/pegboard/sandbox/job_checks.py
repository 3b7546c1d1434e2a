"""Checks a job before anything is started."""

import shutil
from pathlib import Path

from pegboard.core.ports.sandbox import SandboxJob
from pegboard.errors import InvalidRequest
from pegboard.sandbox.backend import PATH


def check_job(job: SandboxJob) -> None:
    """Check the program, the paths and the strings of a job.

    Raises:
        InvalidRequest: Something does not exist, or cannot be passed to the system.
    """
    texts = (*job.command, *job.environment, *job.environment.values())
    if not job.command or not job.command[0]:
        raise InvalidRequest("A command needs a program.")
    if any("\0" in text for text in texts):
        raise InvalidRequest("The command or a variable contains a zero byte.")
    if any("=" in name or not name for name in job.environment):
        raise InvalidRequest("The name of a variable is empty or holds '='.")
    for path in (*job.readable, *job.writable):
        _check_path(path, folder=path in job.writable)
    if job.directory is not None:
        _check_path(job.directory, folder=True)
        shown = (*job.readable, *job.writable)
        if not any(job.directory.is_relative_to(path) for path in shown):
            raise InvalidRequest(f"'{job.directory}' is neither readable nor writable for the job.")
    _check_program(job)


def _check_path(path: Path, *, folder: bool) -> None:
    if not path.is_absolute():
        raise InvalidRequest(f"'{path}' must be an absolute path.")
    if not path.exists():
        raise InvalidRequest(f"'{path}' does not exist.")
    if folder and not path.is_dir():
        raise InvalidRequest(f"'{path}' is not a folder.")


def _check_program(job: SandboxJob) -> None:
    program = job.command[0]
    if "/" in program:
        there = (job.directory or Path("/")).joinpath(program).exists()
    else:
        there = shutil.which(program, path=job.environment.get("PATH", PATH)) is not None
    if not there:
        raise InvalidRequest(f"The program '{program}' does not exist.")
