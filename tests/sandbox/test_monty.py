import asyncio
import os
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import psutil
import pytest
from tests.sandbox.inside import BRIEF, LITTLE, processes, run_code, until

from pegboard.core.ports.sandbox import CodeJob, SandboxLimits
from pegboard.errors import Unavailable
from pegboard.sandbox import ProbedSandbox, monty_session
from pegboard.sandbox.landlock import landlock_abi
from pegboard.sandbox.monty import MontyEngine
from pegboard.sandbox.monty_worker import WorkerLauncher


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("1 + 1", 2),
        ("x = 1", None),
        ("", None),
        ("[given['a'], (1, 2)]", ["á", [1, 2]]),
        ("import json, math\njson.loads('[1]') + [math.floor(2.5)]", [1, 2]),
        (
            "def double(n):\n    return 2 * n\n{str(n): double(n) for n in range(2)}",
            {"0": 0, "1": 2},
        ),
    ],
)
async def test_code_gives_the_value_of_its_last_expression(
    code_sandbox: ProbedSandbox, code: str, value: Any
) -> None:
    outcome = await run_code(code_sandbox, code, inputs={"given": {"a": "á"}})

    assert (outcome.value, outcome.error, outcome.stopped) == (value, "", "")


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = 1\n1 / 0", ("line 2", "ZeroDivisionError: division by zero")),
        ("def f():\n    return nope\n\nf()", ("line 4", "line 2, in f", "NameError: name 'nope'")),
        ("x = (", ("line 1", "SyntaxError")),
        ("yield 1", ("line 1", "yield")),
        ("nope()", ("NameError: name 'nope' is not defined",)),
        ("float('nan')", ("ValueError: result: nan is not JSON",)),
        ("10 ** 5000", ("ValueError: result: an integer",)),
        ("'x' * 2000", ("ValueError: result: more than 1000 bytes",)),
        ("def f(n):\n    return f(n + 1)\nf(0)", ("RecursionError",)),
        ("class A: pass\nA()", ("ValueError: result: 'A' is not JSON",)),
    ],
)
async def test_a_mistake_in_the_code_is_told_with_its_line(
    code_sandbox: ProbedSandbox, code: str, told: tuple[str, ...]
) -> None:
    outcome = await run_code(code_sandbox, code)

    assert [part for part in told if part not in outcome.error] == []
    assert "Traceback" not in outcome.error
    assert "python-input" not in outcome.error


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/passwd').read()",
        "open('mine', 'w').write('x')",
        "import pathlib\npathlib.Path('/etc/passwd').read_text()",
        "import os\nos.environ['PATH']",
        "import os\nos.environ.get('PATH')",
        "import os\nos.getenv('PLANTED_SECRET')",
        "import os\nos.listdir('/')",
        "import os\nos.system('true')",
        "import random\nrandom._os.environ",
        "import sys\nsys.modules['os']",
        "import subprocess",
        "import socket",
        "import ctypes",
        "import importlib",
        "import builtins",
        "import pydantic",
        "__import__('os').system('true')",
        "eval(\"__import__('os')\")",
        "exec('import subprocess')",
        "().__class__.__mro__[1].__subclasses__()",
        "(lambda: 0).__globals__['__builtins__']",
        "'{0.__class__.__mro__}'.format(1)",
        "'{0.__globals__}'.format(given)",
        "f'{().__class__.__base__}'",
        "getattr(1, '__class__').__bases__",
        "type(1).__subclasses__()",
        "given.__self__",
        "input()",
        "breakpoint()",
    ],
)
async def test_code_does_not_get_out(
    code_sandbox: ProbedSandbox, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_SECRET", "s3cret-s3cret")

    async def function() -> str:
        return ""

    outcome = await run_code(code_sandbox, code, functions={"given": function})

    assert outcome.error
    assert outcome.value is None
    assert "s3cret" not in repr(outcome)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("code", "stopped"),
    [
        ("while True: pass", {"cpu", "timeout"}),
        ("try:\n    while True: pass\nexcept BaseException: pass\n1", {"cpu", "timeout"}),
        ("sum(range(10**12))", {"cpu", "timeout"}),
        ("import time\ntime.sleep(60)", {"timeout"}),
        ("import asyncio\nawait asyncio.sleep(60)", {"timeout"}),
        ("while True: print('x' * 1000)", {"cpu", "timeout"}),
        ("10 ** 10 ** 8", {"memory"}),
        ("'a' * 10**10", {"memory"}),
        ("try:\n    'a' * 10**10\nexcept BaseException: pass\n1", {"memory"}),
        ("a = []\nwhile True: a.append('x' * 1000)", {"memory"}),
        ("a = 'x'\nwhile True: a += a", {"memory"}),
        ("sorted(range(10**9))", {"memory"}),
        ("'%1000000000d' % 1", {"memory"}),
        ("import math\nmath.factorial(10**9)", {"memory", "cpu", "timeout"}),
    ],
)
async def test_code_without_end_or_measure_is_stopped(
    code_sandbox: ProbedSandbox, code: str, stopped: set[str]
) -> None:
    limits = BRIEF if "timeout" in stopped else LITTLE
    outcome = await run_code(code_sandbox, code, limits=limits)

    assert outcome.stopped in stopped
    assert outcome.value is None


@pytest.mark.parametrize(
    "code",
    [
        "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
        "import re\nre.sub('(.*)*x', '', 'a' * 5000)",
        "eval('(' * 10000 + ')' * 10000)",
        "import json\njson.loads('[' * 100000)",
        "x = []\nfor _ in range(500): x = [x]\nx",
    ],
    ids=["regex", "sub", "parser", "json", "nesting"],
)
async def test_hostile_input_to_a_library_ends_soon(code_sandbox: ProbedSandbox, code: str) -> None:
    outcome = await run_code(code_sandbox, code)

    assert outcome.stopped == ""


@pytest.mark.slow
@pytest.mark.parametrize("last", ["x", "{'a': x}", "f(x)"])
async def test_a_value_with_shared_parts_is_counted_as_its_json(
    code_sandbox: ProbedSandbox, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monty_session, "_MAX_ARGUMENT_BYTES", LITTLE.output_bytes)

    async def f(x: Any) -> None: ...

    code = f"x = [1]\nfor _ in range(40): x = [x, x]\n{last}"
    outcome = await run_code(code_sandbox, code, functions={"f": f})

    assert "bytes of JSON" in outcome.error
    assert outcome.value is None


async def test_what_is_printed_is_kept_up_to_its_bound(code_sandbox: ProbedSandbox) -> None:
    few = await run_code(code_sandbox, "print('a', 'b')\nprint(1)")
    many = await run_code(code_sandbox, "for _ in range(100): print('é' * 99)\n7")

    assert few.printed == "a b\n1\n"
    assert (len(many.printed), many.printed_bytes, many.value) == (1000, 100 * 199, 7)


async def test_nothing_is_kept_from_run_to_run(code_sandbox: ProbedSandbox) -> None:
    await run_code(code_sandbox, "kept = 1")

    assert "NameError" in (await run_code(code_sandbox, "kept")).error


async def test_inputs_that_code_cannot_hold_are_an_error(code_sandbox: ProbedSandbox) -> None:
    outcome = await run_code(code_sandbox, "x", inputs={"x": object()})

    assert "TypeError" in outcome.error


@pytest.mark.slow
async def test_runs_go_beside_each_other_more_than_there_are_workers(
    code_sandbox: ProbedSandbox,
) -> None:
    async def wait(number: int) -> int:
        await asyncio.sleep(0.05)
        return number

    limits = SandboxLimits(timeout=40)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(
                run_code(code_sandbox, f"wait({n})", functions={"wait": wait}, limits=limits)
            )
            for n in range(30)
        ]

    assert [task.result().value for task in tasks] == list(range(30))


async def test_a_cancelled_run_leaves_no_worker(code_sandbox: ProbedSandbox) -> None:
    before = processes()
    tasks = [asyncio.create_task(run_code(code_sandbox, "while True: pass")) for _ in range(12)]
    await asyncio.sleep(0.3)

    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)

    assert all(task.cancelled() for task in tasks)
    await until(lambda: processes() <= before)
    assert (await run_code(code_sandbox, "1")).value == 1


async def test_closing_leaves_nothing_and_may_be_done_twice(code_sandbox: ProbedSandbox) -> None:
    before = processes()
    folders = _folders()
    engine = MontyEngine()
    assert (await engine.run(CodeJob(code="1"))).value == 1
    assert len(_folders() - folders) == 1

    await engine.close()
    await engine.close()

    assert _folders() <= folders
    await until(lambda: processes() <= before)
    assert (await engine.run(CodeJob(code="2"))).value == 2
    await engine.close()


@pytest.mark.skipif(landlock_abi() == 0, reason="the kernel has no Landlock")
async def test_a_worker_stands_behind_a_wall_without_environment(
    code_sandbox: ProbedSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_SECRET", "s3cret-s3cret")
    seen: list[tuple[dict[str, str], str, list[int]]] = []
    before = processes()  # each run has a worker of its own; one of another may be ending

    async def look() -> None:
        for child in _workers(since=before):
            status = _status(child.pid)
            seen.append((child.environ(), status["Seccomp"], [child.uids().real]))

    outcome = await run_code(code_sandbox, "look()", functions={"look": look})

    assert outcome.error == ""
    [(environment, seccomp, [uid])] = seen
    assert environment == {}
    assert seccomp == "2"
    assert uid != 0 or os.geteuid() != 0


async def test_a_killed_worker_is_an_error_and_not_our_end(code_sandbox: ProbedSandbox) -> None:
    before = processes()

    async def stab() -> None:
        for child in _workers(since=before):
            child.kill()

    outcome = await run_code(code_sandbox, "stab()\n1", functions={"stab": stab})

    assert outcome.error == "MemoryError: the interpreter ran out of memory, or failed"


async def test_workers_that_cannot_be_started_are_unavailable() -> None:
    engine = MontyEngine()
    if await engine.why_not():
        pytest.skip("there are none that can")
    await engine.run(CodeJob(code="1"))
    workers = engine._workers
    assert workers is not None
    workers.launcher.remove()

    with pytest.raises(Unavailable, match="No interpreter could be started"):
        await engine.run(CodeJob(code="1"))
    await engine.close()


def test_a_launcher_without_a_wall_has_no_environment_either(code_sandbox: ProbedSandbox) -> None:
    launcher = WorkerLauncher(walled=False)
    try:
        assert not launcher.walled
        assert "/usr/bin/env -i" in launcher.path.read_text()
    finally:
        launcher.remove()
    assert not launcher.path.exists()


async def test_code_runs_beside_the_event_loop(code_sandbox: ProbedSandbox) -> None:
    task = asyncio.create_task(run_code(code_sandbox, "while True: pass"))
    ended: list[bool] = []
    for _ in range(50):
        await asyncio.sleep(0.01)
        ended.append(task.done())
    task.cancel()
    await asyncio.wait([task])

    assert not any(ended)  # one that holds the loop ends before it lets go


def _workers(*, since: set[int]) -> list[psutil.Process]:
    new = [psutil.Process(pid) for pid in processes() - since]
    return [process for process in new if process.name() == "monty"]


def _folders() -> set[str]:
    return {entry.name for entry in Path(gettempdir()).glob("pegboard-monty-*")}


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


async def test_first_runs_at_the_same_time_share_the_workers(code_sandbox: ProbedSandbox) -> None:
    folders = _folders()
    sandbox = ProbedSandbox(allowed=["monty"])
    tasks = [asyncio.create_task(run_code(sandbox, "1")) for _ in range(4)]
    await asyncio.wait(tasks)

    assert [task.result().value for task in tasks] == [1] * 4
    assert len(_folders() - folders) == 1
    await sandbox.close()
    assert _folders() <= folders
