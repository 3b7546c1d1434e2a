"""Somebody who ends a server when this process can no longer do it."""

import asyncio
import os

_GUARD = """
read -r _ && exit
kill -s KILL -- "-$1"
for round in 1 2; do
    for variables in /proc/[0-9]*/environ; do
        if grep -qs "$2" "$variables"; then
            process=${variables#/proc/}
            kill -s KILL "${process%/environ}"
        fi
    done
done
"""


async def guarded(group: int, mark: str) -> asyncio.subprocess.Process:
    """A `sh` that kills when its stdin breaks, unless it is told first that all is done.

    Args:
        group: The process group to kill.
        mark: Kill whatever has this among its variables, too.
    """
    return await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        _GUARD,
        "pegboard-guard",
        str(group),
        mark,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.defpath},
        start_new_session=True,
    )
