from pathlib import Path

import pytest

from pegboard.core.ports.sandbox import SandboxJob
from pegboard.errors import InvalidRequest
from pegboard.sandbox.job_checks import check_job


@pytest.mark.parametrize(
    ("job", "why"),
    [
        (SandboxJob(command=()), "needs a program"),
        (SandboxJob(command=("",)), "needs a program"),
        (SandboxJob(command=("no-such-program",)), "program 'no-such-program' does not exist"),
        (SandboxJob(command=("/no/such",)), "program '/no/such' does not exist"),
        (SandboxJob(command=("echo", "a\0b")), "zero byte"),
        (SandboxJob(command=("echo",), environment={"A": "\0"}), "zero byte"),
        (SandboxJob(command=("echo",), environment={"A=B": ""}), "holds '='"),
        (SandboxJob(command=("echo",), environment={"": ""}), "is empty"),
        (SandboxJob(command=("echo",), readable=(Path("/no/such"),)), "'/no/such' does not exist"),
        (SandboxJob(command=("echo",), writable=(Path("/etc/hostname"),)), "is not a folder"),
        (SandboxJob(command=("echo",), readable=(Path("relative"),)), "must be an absolute path"),
        (SandboxJob(command=("echo",), directory=Path("/etc")), "neither readable nor writable"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_job_that_cannot_be_run_is_refused(job: SandboxJob, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        check_job(job)


def test_a_job_that_names_what_there_is_passes(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    below = tmp_path / "below"
    below.mkdir()

    check_job(SandboxJob(command=("sh",), environment={"A": "="}))
    check_job(SandboxJob(command=("/bin/sh",), writable=(tmp_path,), directory=below))
    check_job(SandboxJob(command=("../mine",), readable=(tmp_path,), directory=below))


def test_a_program_is_looked_for_where_the_job_says(tmp_path: Path) -> None:
    (tmp_path / "mine").touch(mode=0o755)

    check_job(SandboxJob(command=("mine",), environment={"PATH": str(tmp_path)}))
    with pytest.raises(InvalidRequest, match="program 'mine' does not exist"):
        check_job(SandboxJob(command=("mine",)))
