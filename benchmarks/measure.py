"""How things are timed: CPU time of this process or of a new one, the least of several rounds.

CPU time and not the wall clock, since other programs on the machine do not count in it, and the
least, since whatever disturbs a round can only add to it. Cases that are compared take turns within
each round, so that a machine that slows down slows all of them.
"""

import gc
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Case = Callable[[], Awaitable[object]]


async def cpu_us(
    cases: Mapping[str, Case], *, rounds: int = 25, batch: float = 0.02
) -> dict[str, float]:
    """Microseconds of CPU that one call of each case takes, all threads counted.

    Args:
        cases: By name; each is called and awaited.
        rounds: Turns of each case.
        batch: About how many seconds of calls make one turn.
    """
    sizes = {name: await _batch_size(case, batch) for name, case in cases.items()}
    gc.collect()
    gc.freeze()  # what the imports left behind is not looked through in anybody's turn
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(rounds):
        for name, case in cases.items():
            best[name] = min(best[name], await _one_turn(case, sizes[name]))
    gc.unfreeze()
    return {name: seconds * 1e6 for name, seconds in best.items()}


async def cpu_and_wall_us(
    cases: Mapping[str, Case], *, rounds: int, runs: int, parts: int = 1
) -> dict[str, tuple[float, float]]:
    """Microseconds of a part of a run, of CPU and on the clock: for what waits for a disk too.

    Args:
        cases: By name; each is called and awaited, once more before anything is timed.
        rounds: Turns of each case; the least counts.
        runs: Calls in a turn.
        parts: Into how many parts one call falls.
    """
    best = dict.fromkeys(cases, (float("inf"), float("inf")))
    for case in cases.values():
        await case()
    for _ in range(rounds):
        for name, case in cases.items():
            cpu, wall = time.process_time(), time.perf_counter()
            for _ in range(runs):
                await case()
            took = (time.process_time() - cpu, time.perf_counter() - wall)
            cpu_us, wall_us = (seconds / runs / parts * 1e6 for seconds in took)
            best[name] = (min(best[name][0], cpu_us), min(best[name][1], wall_us))
    return best


def cpu_s(work: Callable[[], object]) -> float:
    """Seconds of CPU that this takes, once."""
    gc.collect()
    gc.freeze()  # what was made before is not looked through in this
    began = time.process_time()
    work()
    return time.process_time() - began


def cpu_ms_at(work: Callable[[Any], object], items: Iterable[Any], *, percent: int) -> float:
    """Milliseconds of CPU at a percentile of the items, each done twice; the lesser time counts."""
    times: list[float] = []
    for item in items:
        took: list[float] = []
        for _ in range(2):
            began = time.process_time()
            work(item)
            took.append(time.process_time() - began)
        times.append(min(took))
    times.sort()
    return times[len(times) * percent // 100] * 1e3


async def async_cpu_ms_at(
    work: Callable[[Any], Awaitable[object]], items: Iterable[Any], *, percent: int
) -> float:
    """The same on a loop that runs, as in a server: starting one costs more than a search."""
    times: list[float] = []
    for item in items:
        took: list[float] = []
        for _ in range(2):
            began = time.process_time()
            await work(item)
            took.append(time.process_time() - began)
        times.append(min(took))
    times.sort()
    return times[len(times) * percent // 100] * 1e3


async def wall_ms(
    work: Callable[[Any, int], Awaitable[object]], items: Sequence[Any], *, rounds: int
) -> list[float]:
    """Milliseconds on the clock for each item, the least of several rounds over all of them.

    Args:
        work: Takes an item and the number of the round.
        items: In order.
        rounds: How often each is done.
    """
    best = [float("inf")] * len(items)
    for turn in range(rounds):
        for at, item in enumerate(items):
            began = time.perf_counter()
            await work(item, turn)
            best[at] = min(best[at], (time.perf_counter() - began) * 1e3)
    return best


async def wall_and_cpu_ms(
    work: Callable[[Any, int], Awaitable[object]], items: Sequence[Any], *, rounds: int
) -> tuple[list[float], list[float]]:
    """The same, and beside it the milliseconds of CPU of this process, all threads counted."""
    wall = [float("inf")] * len(items)
    cpu = list(wall)
    for turn in range(rounds):
        for at, item in enumerate(items):
            began, used = time.perf_counter(), time.process_time()
            await work(item, turn)
            cpu[at] = min(cpu[at], (time.process_time() - used) * 1e3)
            wall[at] = min(wall[at], (time.perf_counter() - began) * 1e3)
    return wall, cpu


def percentile(times: Sequence[float], percent: int) -> float:
    """What so many of a hundred do not exceed."""
    return sorted(times)[min(len(times) * percent // 100, len(times) - 1)]


def grown_mb(work: Callable[[], object]) -> float:
    """By how much the memory of this process has grown after this."""
    gc.collect()
    before = resident_mb()
    work()
    gc.collect()
    return resident_mb() - before


async def per_run_ms(run: Case, *, runs: int) -> tuple[float, float]:
    """Milliseconds of a run that is mostly other processes: the wall clock's median, and the CPU.

    The CPU is that of this process and of all that it waited for, on average.
    """
    await run()
    times: list[float] = []
    began = _cpu_with_children()
    for _ in range(runs):
        started = time.perf_counter()
        await run()
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e3, (_cpu_with_children() - began) / runs * 1e3


def process_clock(pid: int) -> float:
    """Seconds of CPU that another process has used until now; on Linux."""
    return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3), which Python lacks


def process_cpu_s(code: str, *, rounds: int = 5) -> float:
    """Seconds of CPU of a whole new interpreter that runs this; the least of the rounds."""
    return min(_process_cpu(code) for _ in range(rounds))


async def _batch_size(case: Case, batch: float) -> int:
    await _one_turn(case, 20)
    return max(10, int(batch / await _one_turn(case, 20)))


async def _one_turn(case: Case, times: int) -> float:
    began = time.process_time()
    for _ in range(times):
        await case()
    return (time.process_time() - began) / times


def _cpu_with_children() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in used)


def _process_cpu(code: str) -> float:
    process = subprocess.Popen([sys.executable, "-c", code])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"this failed: {code}")
    return usage.ru_utime + usage.ru_stime


def resident_mb() -> float:
    """The memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak_of_self_mb() -> float:
    """The peak memory of this process."""
    return peak_mb(os.getpid())


def peak_mb(pid: int) -> float:
    """The peak memory of a process.

    From the kernel, since what `wait4` says begins with the memory of the parent.
    """
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024
