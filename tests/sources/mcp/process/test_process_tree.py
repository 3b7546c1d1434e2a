"""All that a server has started is found, and ended with it."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.sources.mcp.opening import GUARDED, WORKSHOP, opened, until

from pegboard.sources.mcp.process.process_tree import VARIABLE, ProcessTree, fresh_mark, mark_nested

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc here"),
    pytest.mark.slow,
    pytest.mark.timeout(60),
]

WAYS = {
    "setsid": "setsid sleep {seconds} &",
    "twice": "(setsid sh -c 'sleep {seconds} & exec sleep {seconds}' &)",
    "nohup": "nohup sleep {seconds} > /dev/null 2>&1 &",
    "stripped": "env -i setsid sleep {seconds} &",
    "daemon": (
        "{python} -c 'import os, time\n"
        "if os.fork() == 0:\n os.setsid()\n if os.fork() == 0: time.sleep({seconds})'"
    ),
}


def _unheard_of() -> int:
    """A time that nobody else on this machine sleeps; tests beside this one have its `random`."""
    return 10**6 + secrets.randbelow(10**9)


def _sleeping(seconds: int) -> list[int]:
    found: list[int] = []
    for process in psutil.process_iter(["cmdline", "status"]):
        words = process.info["cmdline"] or []
        is_one = str(seconds) in words or any(f"time.sleep({seconds})" in word for word in words)
        if is_one and words[0] != "sh" and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


@pytest.mark.parametrize("way", WAYS)
async def test_what_a_server_leaves_in_the_background_ends_with_it(way: str) -> None:
    seconds = _unheard_of()
    background = WAYS[way].format(seconds=seconds, python=sys.executable)
    server = f"{background}\nexec {sys.executable} {WORKSHOP}"
    async with opened({"command": "sh", "args": ["-c", server]}) as source:
        await source.tools()
        await until(lambda: bool(_sleeping(seconds)))

    assert _sleeping(seconds) == []


async def test_what_a_server_leaves_that_ends_by_itself_ends_too() -> None:
    seconds = _unheard_of()
    server = f"(setsid sleep {seconds} &) ; sleep 0.3; exit 3"
    async with opened({"command": "sh", "args": ["-c", server]}) as source:
        with pytest.raises(Exception, match="exit code 3"):
            await source.tools()
        await until(lambda: not _sleeping(seconds))

    assert _sleeping(seconds) == []


def test_a_crash_of_ours_takes_along_what_left_the_group(tmp_path: Path) -> None:
    seconds = _unheard_of()
    script = tmp_path / "board.py"
    script.write_text(
        f"{GUARDED}"
        "import asyncio, os, pathlib, signal\n"
        "from pegboard.core.ports.services import Services\n"
        "from pegboard.sources.mcp import KIND\n"
        "from pegboard.sources.mcp.config import McpConfig\n"
        "async def main():\n"
        f"    there = pathlib.Path({str(tmp_path / 'there')!r})\n"
        f"    program = f'(setsid sleep {seconds} &); touch {{there}}; cat'\n"
        "    config = McpConfig(command='sh', args=('-c', program))\n"
        "    source = await KIND.open('s', config, Services())\n"
        "    asyncio.ensure_future(source.tools())\n"
        "    while not (there.exists() and is_guarded()):\n"
        "        await asyncio.sleep(0.05)\n"
        "    print(open('/proc/self/stat').read() and 'there', flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    crashed = subprocess.run([sys.executable, script], check=False, timeout=50, capture_output=True)

    assert crashed.returncode == -signal.SIGKILL
    asyncio.run(until(lambda: not _sleeping(seconds)))


def test_a_family_is_nobody_else() -> None:
    mark = fresh_mark()
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    child = subprocess.Popen(
        ["sh", "-c", "sleep 60 & exec sleep 60"], env={"PATH": os.defpath, VARIABLE: mark}
    )
    try:
        family = ProcessTree(child.pid, mark)
        family.look()
        family.kill()

        assert child.wait(5) == -signal.SIGKILL
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_board_within_a_server_of_a_board_keeps_the_mark_above() -> None:
    module = "pegboard.sources.mcp.process.process_tree"
    code = f"from {module} import mark_nested; print(mark_nested('below'))"
    environment = {**os.environ, VARIABLE: "above"}
    inner = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )

    assert inner.stdout == "above.below\n"
    assert mark_nested("alone").endswith("alone")


def test_without_proc_nothing_is_found(tmp_path: Path) -> None:
    ProcessTree(os.getpid(), fresh_mark(), proc=tmp_path / "nowhere").kill()

    assert mark_nested("a", proc=tmp_path / "nowhere") == "a"


def test_a_number_that_another_process_has_by_now_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    stat = tmp_path / str(stranger.pid) / "stat"
    stat.parent.mkdir()
    fields = ["S", "1", *["0"] * 17]
    try:
        stat.write_text(f"{stranger.pid} (server) {' '.join(fields)} 500\n")
        family = ProcessTree(stranger.pid, fresh_mark(), proc=tmp_path)
        assert not family.is_replaced()

        stat.write_text(f"{stranger.pid} (stranger) {' '.join(fields)} 900\n")
        family.kill()

        assert family.is_replaced()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
