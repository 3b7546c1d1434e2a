import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard.core.ports.sandbox import CodeJob, SandboxJob
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.sandbox import BACK_ENDS, CODE, ProbedSandbox
from pegboard.sandbox import sandbox as sandbox_module
from pegboard.sandbox.backend import JobUser
from pegboard.sandbox.bubblewrap import Bubblewrap
from pegboard.sandbox.landlock import Landlock, landlock_abi


async def test_without_a_back_end_nothing_runs() -> None:
    nothing = ProbedSandbox(allowed=[])

    with pytest.raises(Unavailable, match=r"Commands cannot be run here.*back_ends") as commands:
        await nothing.run(SandboxJob(command=("/bin/true",)))
    with pytest.raises(Unavailable, match=r"Code cannot be run here.*back_ends") as code:
        await nothing.run_code(CodeJob(code="1"))

    assert not commands.value.retryable
    assert not code.value.retryable
    await nothing.close()


async def test_a_missing_program_is_a_reason_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox = ProbedSandbox(allowed=["bubblewrap"])

    assert await sandbox.why_no_commands() == (
        "bubblewrap: bwrap is not installed; install it (on Debian: apt install bubblewrap)"
    )


async def test_a_job_is_checked_before_it_is_started(sandbox: ProbedSandbox) -> None:
    with pytest.raises(InvalidRequest, match="program 'no-such' does not exist"):
        await sandbox.run(SandboxJob(command=("no-such",)))


async def test_findings_name_every_back_end_that_may_be_used() -> None:
    sandbox = ProbedSandbox()

    found = await sandbox.findings()
    await sandbox.close()

    assert [item.back_end for item in found] == [*(item.name for item in BACK_ENDS), CODE]


async def test_the_second_back_end_takes_the_place_of_one_that_does_not_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sandbox = ProbedSandbox(network=True)
    shell = shutil.which("sh")
    assert shell is not None
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = await sandbox.why_no_commands()
    if reason:
        pytest.skip(reason)

    outcome = await sandbox.run(SandboxJob(command=("/bin/sh", "-c", "pwd")))

    assert b"pegboard-job-" in outcome.stdout


@pytest.mark.parametrize(
    ("abi", "reason"),
    [(0, "the kernel has no Landlock"), (2, "too old"), (7, "")],
    ids=["none", "old", "new"],
)
def test_landlock_says_which_kernel_it_needs(abi: int, reason: str) -> None:
    lacks = Landlock(abi=abi).lacks()

    assert lacks.startswith(reason) or reason in lacks
    assert bool(lacks) is bool(reason)


@pytest.mark.skipif(os.geteuid() == 0, reason="root has users of its own for jobs")
def test_landlock_without_signal_rules_is_for_root_alone() -> None:
    assert "too old (ABI 5)" in Landlock(abi=5).lacks()


def test_bubblewrap_mounts_what_a_job_names_and_nothing_else(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    job = SandboxJob(command=("x",), readable=(tmp_path,), writable=(inner,))

    argv = Bubblewrap().walls(job, JobUser(folder="/tmp", uid=None))

    mounts = [tuple(argv[at : at + 2]) for at, word in enumerate(argv) if word.endswith("-bind")]
    tried = [argv[at + 1] for at, word in enumerate(argv) if word == "--ro-bind-try"]
    assert mounts == [("--bind", str(inner))]
    assert str(tmp_path) in tried
    assert argv.index(str(tmp_path)) < argv.index(str(inner))
    assert "--unshare-net" in argv
    assert "--unshare-user" in argv


def test_bubblewrap_shares_the_network_only_with_leave() -> None:
    job = SandboxJob(command=("x",), network=True)

    assert "--unshare-net" not in Bubblewrap().walls(job, JobUser(folder="/tmp", uid=None))


def test_the_kernel_tells_its_version_of_landlock() -> None:
    assert landlock_abi() >= 0


AS_NOBODY = """
import asyncio
from pegboard.sandbox import BACK_ENDS
from pegboard.sandbox.probe import why_not
for back_end in BACK_ENDS:
    for network in (False, True):
        print(asyncio.run(why_not(back_end, network=network)) or "holds")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as an ordinary user already")
@pytest.mark.timeout(120)
def test_what_holds_for_root_holds_for_an_ordinary_user() -> None:
    paths = [path for path in sys.path if path]
    for program in (sys.executable, "/usr/bin/python3"):
        try:
            done = subprocess.run(
                [program, "-c", AS_NOBODY],
                user=65534, group=65534, extra_groups=[], cwd="/",
                env={"PYTHONPATH": ":".join(paths), "PATH": os.environ["PATH"]},
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        except PermissionError:
            continue
        if done.returncode == 0:
            break
    else:
        pytest.skip("an ordinary user of this machine cannot run this Python")

    answers = done.stdout.splitlines()
    assert len(answers) == 2 * len(BACK_ENDS)
    assert [answer for answer in answers if "does not hold" in answer] == []


async def test_a_back_end_is_probed_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    first = await ProbedSandbox().findings()

    async def no_probe(*_: object, **__: object) -> str:
        return "probed again"

    monkeypatch.setattr(sandbox_module, "why_not", no_probe)
    works = [item for item in await ProbedSandbox().findings() if not item.reason]

    assert works == [item for item in first if not item.reason]
