"""What it costs to run something apart: a command by each back end, and a piece of Python."""

import asyncio
from typing import Any

from measure import per_run_ms
from table import number, section, table

RUNS = 30


async def cost_of_confining() -> str:
    """Each back end that works on this machine, beside a process without any wall."""
    rows = [["a process without a wall (`/bin/true`)", *await _measured(_unconfined)]]
    missing: list[str] = []
    for name in ("bubblewrap", "landlock"):
        rows += await _command(name, missing)
    rows += await _code(missing)
    return section(
        "Running something apart",
        table(["", "wall clock, ms", "CPU with children, ms"], rows),
        *missing,
    )


async def _unconfined() -> None:
    process = await asyncio.create_subprocess_exec("/bin/true", env={})
    if await process.wait():
        raise AssertionError("/bin/true failed")


async def _command(name: str, missing: list[str]) -> list[list[str]]:
    from pegboard.core.ports.sandbox import SandboxJob
    from pegboard.sandbox import ProbedSandbox

    sandbox = ProbedSandbox(allowed=[name])
    if reason := await sandbox.why_no_commands():
        missing.append(f"Not measured, {name}: {reason}.")
        return []

    async def run() -> None:
        outcome = await sandbox.run(SandboxJob(command=("/bin/echo", "x")))
        if outcome.stdout != b"x\n":
            raise AssertionError(outcome)

    return [[f"`/bin/echo` by {name}", *await _measured(run)]]


async def _code(missing: list[str]) -> list[list[str]]:
    from pegboard.core.ports.sandbox import CodeJob
    from pegboard.sandbox import ProbedSandbox

    sandbox = ProbedSandbox(allowed=["monty"])
    if reason := await sandbox.why_no_code():
        missing.append(f"Not measured, monty: {reason}.")
        return []

    async def answer() -> int:
        return 1

    async def run(code: str, expected: Any) -> None:
        outcome = await sandbox.run_code(CodeJob(code=code, functions={"answer": answer}))
        if outcome.value != expected:
            raise AssertionError(outcome)

    rows = [
        ["Python by monty, behind Landlock where there is one", *await _measured(run, "1 + 1", 2)],
        [
            "the same with 10 calls of a function outside",
            *await _measured(run, "sum([answer() for _ in range(10)])", 10),
        ],
    ]
    await sandbox.close()
    return rows


async def _measured(run: Any, *arguments: Any) -> list[str]:
    wall, cpu = await per_run_ms(lambda: run(*arguments), runs=RUNS)
    return [number(wall), number(cpu)]
