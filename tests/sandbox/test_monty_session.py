"""What code may call outside, and how what comes of it gets back in."""

import asyncio
from typing import Any

import pytest
from tests.sandbox.inside import BRIEF, processes, run_code, until

from pegboard.core.ports.sandbox import SandboxLimits
from pegboard.errors import ToolFailed
from pegboard.sandbox import ProbedSandbox
from pegboard.sandbox.monty_session import MAX_SUSPENSIONS


async def test_functions_are_awaited_outside(code_sandbox: ProbedSandbox) -> None:
    async def add(a: int, b: int = 1) -> dict[str, int]:
        await asyncio.sleep(0.01)
        return {"sum": a + b}

    code = "keep = add\n[add(1)['sum'], keep(1, b=5)['sum'], add(**{'a': 2, 'b': 2})['sum']]"
    outcome = await run_code(code_sandbox, code, functions={"add": add})

    assert (outcome.value, outcome.error) == ([2, 6, 4], "")


async def test_a_functions_error_arrives_as_an_exception(code_sandbox: ProbedSandbox) -> None:
    async def refuse() -> None:
        raise ToolFailed("there is no order 17")

    caught = "try:\n    refuse()\nexcept RuntimeError as error:\n    told = str(error)\ntold"

    assert (await run_code(code_sandbox, caught, functions={"refuse": refuse})).value == (
        "there is no order 17"
    )
    left = await run_code(code_sandbox, "refuse()", functions={"refuse": refuse})
    assert "RuntimeError: there is no order 17" in left.error


async def test_an_error_that_is_not_meant_for_the_code_ends_the_run(
    code_sandbox: ProbedSandbox,
) -> None:
    async def broken() -> None:
        raise KeyError("a secret detail")

    before = processes()

    with pytest.raises(KeyError):
        await run_code(
            code_sandbox, "try: broken()\nexcept Exception: pass", functions={"broken": broken}
        )

    await until(lambda: processes() <= before)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("add()", "TypeError: add(): missing a required argument: 'a'"),
        ("add(1, 2, 3)", "TypeError: add(): too many positional arguments"),
        ("add(c=1)", "TypeError: add(): missing a required argument: 'a'"),
        ("add(float('nan'))", "TypeError: add(): arguments[0][0]: nan is not JSON"),
        ("add({(1,): 1})", "TypeError: add(): arguments[0][0]: a key is a tuple"),
    ],
)
async def test_a_function_called_wrongly_is_not_called(
    code_sandbox: ProbedSandbox, call: str, told: str
) -> None:
    calls: list[Any] = []

    async def add(a: Any, b: Any = 1) -> None:
        calls.append((a, b))

    outcome = await run_code(code_sandbox, call, functions={"add": add})

    assert told in outcome.error
    assert calls == []


async def test_functions_are_not_called_without_end(code_sandbox: ProbedSandbox) -> None:
    calls = 0

    async def count() -> int:
        nonlocal calls
        calls += 1
        return calls

    limits = SandboxLimits(timeout=40)
    outcome = await run_code(
        code_sandbox, "while True: count()", functions={"count": count}, limits=limits
    )

    assert outcome.error
    assert 0 < calls <= MAX_SUSPENSIONS


@pytest.mark.timeout(60)
async def test_a_slow_function_counts_in_the_time(code_sandbox: ProbedSandbox) -> None:
    async def slow() -> None:
        await asyncio.sleep(60)

    outcome = await run_code(code_sandbox, "slow()", functions={"slow": slow}, limits=BRIEF)

    assert outcome.stopped == "timeout"


async def test_a_timeout_of_a_functions_own_is_no_timeout_of_the_run(
    code_sandbox: ProbedSandbox,
) -> None:
    async def late() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await run_code(code_sandbox, "late()", functions={"late": late})
