"""Everything that a server over stdio has started ends with it."""

import asyncio
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.sources.mcp.opening import GUARDED, WORKSHOP, opened, until

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
        f"    program = f'(setsid sleep {seconds} &); touch {{there}}; exec sleep 600'\n"
        "    config = McpConfig(command='sh', args=('-c', program))\n"
        "    source = await KIND.open('s', config, Services())\n"
        "    task = asyncio.ensure_future(source.tools())\n"
        "    while not (there.exists() and is_guarded()):\n"
        "        await asyncio.sleep(0.05)\n"
        "    print(open('/proc/self/stat').read() and 'there', flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    crashed = subprocess.run([sys.executable, script], check=False, timeout=50, capture_output=True)

    assert crashed.returncode == -signal.SIGKILL
    asyncio.run(until(lambda: not _sleeping(seconds)))
