"""Runs one job on foreign input in a process of its own, with little memory and time.

Template engines and HTML converters have no bound on the memory that a hostile input makes them
take, and one of them ends the whole process when memory runs out. A process costs some 40 ms and
holds whatever happens. It sees no environment of the board; it is not for foreign code.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pegboard.errors import InvalidRequest, Overloaded

_PROGRAM = Path(__file__).with_name("confined_child.py")
_MEMORY = 512 << 20
_SECONDS = 5


def unavailable() -> str:
    """Why there can be no confined process on this machine; empty when there can."""
    if not sys.executable:
        return "this program has no Python interpreter to start another process with"
    if sys.platform == "win32":
        return "this system cannot limit a process's memory"
    return ""


async def run_confined(
    job: Literal["render", "to_markdown"], payload: Mapping[str, Any]
) -> dict[str, Any]:
    """Run a job of `confined_child.py` and return its answer.

    The process is gone when this returns, also when it is cancelled.

    Raises:
        InvalidRequest: The input makes the job take more memory or time than there is.
        Overloaded: No process could be started.
    """
    start = {"path": sys.path, "memory": _MEMORY, "seconds": _SECONDS}
    text = (
        json.dumps(start).encode() + b"\n" + json.dumps({"job": job, "payload": payload}).encode()
    )
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-X", "utf8", str(_PROGRAM)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
        )
    except OSError as error:
        raise Overloaded("No process could be started for this.", nothing_done=True) from error
    try:
        async with asyncio.timeout(2 * _SECONDS):
            out, _ = await process.communicate(text)
    except TimeoutError as error:
        raise InvalidRequest("This takes too long; make it smaller or simpler.") from error
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode != 0:
        raise InvalidRequest("This takes too much memory or time; make it smaller or simpler.")
    return json.loads(out)
