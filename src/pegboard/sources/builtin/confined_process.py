"""Runs one job on foreign input in a process of its own, with little memory and time.

Template engines and HTML converters have no bound on the memory that a hostile input makes them
take, and one of them ends the whole process when memory runs out. A process costs some 40 ms and
holds whatever happens. It sees no environment of the board; it is not for foreign code.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pegboard.concurrency.child_process import ProcessSpec, run_process
from pegboard.errors import InvalidRequest, Overloaded

_PROGRAM = Path(__file__).with_name("confined_child.py")
_MEMORY = 512 << 20
_SECONDS = 5
_MAX_OUTPUT_BYTES = 64 << 20


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
    spec = ProcessSpec(arguments=(sys.executable, "-I", "-S", "-X", "utf8", str(_PROGRAM)))
    try:
        result = await run_process(
            spec, stdin=text, timeout=2 * _SECONDS, output_bytes=_MAX_OUTPUT_BYTES
        )
    except OSError as error:
        raise Overloaded("No process could be started for this.", nothing_done=True) from error
    if result.stopped:
        raise InvalidRequest("This takes too long; make it smaller or simpler.")
    if result.returncode != 0 or result.stdout_bytes > _MAX_OUTPUT_BYTES:
        raise InvalidRequest("This takes too much memory or time; make it smaller or simpler.")
    return json.loads(result.stdout)
