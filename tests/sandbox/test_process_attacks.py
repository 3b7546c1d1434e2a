"""What a command can do to processes, to this machine's memory, and to its own end."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.sandbox.inside import (
    HastyClock,
    attempt,
    left_behind,
    processes,
    python,
    running,
    shell,
    until,
)

from pegboard.core.ports.sandbox import SandboxJob, SandboxLimits
from pegboard.sandbox import ProbedSandbox

REFUSED = {"PermissionError", "ProcessLookupError", "FileNotFoundError", "OSError"}


@pytest.mark.parametrize(
    "statement",
    [
        "os.kill(int(given[0]), 0)",
        "os.kill(int(given[0]), signal.SIGKILL)",
        "os.killpg(os.getpgid(int(given[0])), signal.SIGTERM)",
        "call(101 if os.uname().machine == 'x86_64' else 117, 16, int(given[0]), 0, 0)",
        "open('/proc/' + given[0] + '/mem', 'r+b')",
        "print(open('/proc/' + given[0] + '/maps').read(5))",
        "import resource; resource.prlimit(int(given[0]), resource.RLIMIT_NOFILE, (0, 0))",
        "os.setpriority(os.PRIO_PROCESS, int(given[0]), 19)",
        "os.sched_setaffinity(int(given[0]), {0})",
        "os.pidfd_open(int(given[0])); call(438, 3, 0, 0)",
    ],
)
async def test_our_process_is_out_of_reach(sandbox: ProbedSandbox, statement: str) -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)

    assert await attempt(sandbox, statement, os.getpid()) in REFUSED
    assert (os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)) == before


@pytest.mark.parametrize(
    "statement",
    [
        "os.setuid(0)",
        "os.setgroups([0])",
        "os.chroot('/')",
        "call(165 if os.uname().machine == 'x86_64' else 40, b'none', b'/', b'tmpfs', 0, 0)",
        "call(272 if os.uname().machine == 'x86_64' else 97, 0x10000000)",
        "call(425, 8, ctypes.create_string_buffer(200))",
        "call(321 if os.uname().machine == 'x86_64' else 280, 0, 0, 0)",
        "call(250 if os.uname().machine == 'x86_64' else 219, 0, -3, 1)",
        "call(323 if os.uname().machine == 'x86_64' else 282, 0)",
        "call(600)",
        "socket.sethostname('mine')",
        "os.mknod('disk', 0o60600, os.makedev(254, 0)); open('disk', 'rb').read(1)",
    ],
)
async def test_rights_are_not_to_be_had(sandbox: ProbedSandbox, statement: str) -> None:
    assert await attempt(sandbox, statement) in REFUSED


async def test_programs_that_change_their_user_do_not(sandbox: ProbedSandbox) -> None:
    outcome = await shell(sandbox, "su -c id root </dev/null; mount -t tmpfs none /tmp; id -u")

    *_, last = outcome.stdout.split()
    assert last != b"0"
    assert b"uid=0" not in outcome.stdout


async def test_only_the_standard_descriptors_are_open(sandbox: ProbedSandbox) -> None:
    ours, theirs = os.pipe()
    os.set_inheritable(ours, True)
    os.set_inheritable(theirs, True)
    code = (
        "import os\n"
        "for number in range(300):\n"
        "    try:\n        os.fstat(number)\n        print(number)\n"
        "    except OSError:\n        pass\n"
    )
    try:
        outcome = await python(sandbox, code)
    finally:
        os.close(ours)
        os.close(theirs)

    assert outcome.stdout.split() == [b"0", b"1", b"2"]


async def test_nothing_of_our_environment_arrives(
    sandbox: ProbedSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_SECRET", "s3cret-s3cret")

    outcome = await shell(
        sandbox, "env; cat /proc/*/environ 2>/dev/null", environment={"MINE": "1"}
    )

    names = {line.partition(b"=")[0] for line in outcome.stdout.splitlines()}
    assert b"s3cret" not in outcome.stdout
    assert names >= {b"MINE", b"PATH", b"HOME", b"TMPDIR", b"LANG"}
    assert names <= {b"MINE", b"PATH", b"HOME", b"TMPDIR", b"LANG", b"PWD", b"LC_CTYPE"}


@pytest.mark.timeout(60)
async def test_what_a_job_is_given_does_not_show_in_command_lines(sandbox: ProbedSandbox) -> None:
    job = SandboxJob(command=("/bin/sleep", "1"), environment={"KEY": "s3cret-in-orders"})
    task = asyncio.create_task(sandbox.run(job))
    await asyncio.sleep(0.4)

    assert running("s3cret-in-orders") == []
    assert (await task).exit_code == 0


@pytest.mark.timeout(60)
async def test_a_fork_bomb_ends_with_its_time(sandbox: ProbedSandbox) -> None:
    before = processes()
    marker = f"bomb-{time.monotonic_ns()}"
    command = f"bomb() {{ bomb | bomb & }}; bomb; sleep 90; echo {marker}"

    outcome = await shell(sandbox, command, limits=SandboxLimits(timeout=1.5, processes=20))

    assert outcome.duration < 50
    assert processes() <= before
    assert running(marker) == []


async def test_no_more_processes_run_than_allowed(sandbox: ProbedSandbox) -> None:
    limits = SandboxLimits(timeout=40, processes=10)
    code = (
        "import os\n"
        "made = 0\n"
        "try:\n"
        "    while made < 100:\n"
        "        if os.fork() == 0:\n"
        "            import time; time.sleep(60)\n"
        "        made += 1\n"
        "except BlockingIOError:\n    pass\n"
        "print(made)\n"
    )

    outcome = await python(sandbox, code, limits=limits)

    assert 1 <= int(outcome.stdout) <= 12


async def test_one_process_takes_no_more_memory_than_allowed(sandbox: ProbedSandbox) -> None:
    limits = SandboxLimits(timeout=40, memory_bytes=128 << 20)

    assert await attempt(sandbox, "bytearray(200 << 20)", limits=limits) == "MemoryError"


async def test_many_processes_take_no_more_memory_than_allowed(sandbox: ProbedSandbox) -> None:
    limits = SandboxLimits(timeout=40, memory_bytes=128 << 20)
    code = (
        "import os, time\n"
        "for _ in range(7):\n"
        "    if os.fork() == 0: break\n"
        "held = bytearray(60 << 20)\n"
        "time.sleep(60)\n"
    )

    outcome = await python(sandbox, code, limits=limits)

    assert outcome.stopped == "memory"
    assert outcome.exit_code == 137


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_processor_time_has_its_limit(sandbox: ProbedSandbox) -> None:
    limits = SandboxLimits(timeout=40, cpu_seconds=1)

    outcome = await shell(sandbox, "while :; do :; done", limits=limits)

    assert outcome.stopped == "cpu"
    assert outcome.exit_code == 152


async def test_a_command_that_ignores_signals_is_stopped_in_time(
    sandbox: ProbedSandbox, hasty: HastyClock, common: Path
) -> None:
    command = "trap '' TERM INT HUP QUIT XCPU; echo on; touch on; while :; do sleep 1; done"
    running = asyncio.create_task(shell(sandbox, command, writable=(common,), directory=common))
    await until((common / "on").exists)

    hasty.ahead = 100
    outcome = await running

    assert (outcome.stopped, outcome.exit_code, outcome.stdout) == ("timeout", 137, b"on\n")


ESCAPE = """
import os, sys, time
if os.fork():
    sys.exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.setpgid(0, 0)
if "quiet" in sys.argv:
    for number in range(3):
        os.close(number)
time.sleep(100)
"""


@pytest.mark.parametrize("how", ["loud", "quiet"])
async def test_a_daemon_ends_with_its_command(sandbox: ProbedSandbox, how: str) -> None:
    marker = f"daemon-{how}-{time.monotonic_ns()}"

    outcome = await python(sandbox, ESCAPE, how, marker)

    assert (outcome.exit_code, outcome.stopped) == (0, "")
    assert running(marker) == []


async def test_a_daemon_ends_with_its_time(sandbox: ProbedSandbox, hasty: HastyClock) -> None:
    marker = f"daemon-{time.monotonic_ns()}"
    code = ESCAPE.replace("sys.exit(0)", "time.sleep(100)")
    job = asyncio.create_task(python(sandbox, code, marker))
    await until(lambda: len(running(marker)) > 1)

    hasty.ahead = 100
    outcome = await job

    assert outcome.stopped == "timeout"
    assert running(marker) == []


async def test_a_cancelled_job_leaves_nothing(sandbox: ProbedSandbox) -> None:
    before = left_behind()
    marker = f"cancelled-{time.monotonic_ns()}"
    task = asyncio.create_task(
        python(sandbox, ESCAPE.replace("sys.exit(0)", "time.sleep(100)"), marker)
    )
    await until(lambda: len(running(marker)) > 1)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert running(marker) == []
    assert left_behind().since(before) == []


@pytest.mark.timeout(60)
async def test_what_ends_a_job_has_the_time_that_a_machine_takes_which_stands_still(
    sandbox: ProbedSandbox,
) -> None:
    marker = f"slowly-{time.monotonic_ns()}"
    before = psutil.Process().children()
    job = asyncio.create_task(
        python(sandbox, ESCAPE.replace("sys.exit(0)", "time.sleep(100)"), marker)
    )
    await until(lambda: len(running(marker)) > 1)
    ours = [child for child in psutil.Process().children() if child not in before]
    for child in ours:
        child.suspend()

    job.cancel()
    await asyncio.sleep(2.2)
    for child in ours:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.resume()
    await asyncio.wait([job])

    assert ours
    assert running(marker) == []


SERVER = """
import asyncio, sys
from pegboard.core.ports.sandbox import SandboxJob
from pegboard.sandbox import ProbedSandbox

async def main():
    sandbox = ProbedSandbox(allowed=[sys.argv[1]])
    shell = f"(sleep 300; echo {sys.argv[2]}) & exec sleep 301"
    print("starts", flush=True)
    await sandbox.run(SandboxJob(command=("/bin/sh", "-c", shell)))

asyncio.run(main())
"""


@pytest.mark.timeout(60)
async def test_jobs_end_when_we_are_killed(
    sandbox: ProbedSandbox, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["sandbox"]
    before = left_behind().folders
    marker = f"orphan-{time.monotonic_ns()}"
    command = [sys.executable, "-c", SERVER, name, marker]
    server = _started(command)
    await until(lambda: len(running(marker)) > 1)  # more than the server itself

    server.send_signal(signal.SIGKILL)
    server.wait()

    await until(lambda: running(marker) == [])
    await until(lambda: left_behind().folders <= before)


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    """A process that has said that it is there."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        process.stdout.readline()
    return process
