"""What a tool gives back is wrapped, and held to its promise."""

from typing import Any

import pytest
from tests.execution.made import a_call, a_kit, a_spec, a_target

from pegboard.errors import ToolOutputError
from pegboard.execution.call_state import CallState
from pegboard.execution.steps.check_output import check_output


async def checked(value: Any, **spec: Any) -> Any:
    async def following(_call: CallState) -> Any:
        return value

    return await check_output(a_target(a_spec(**spec)), a_kit(), following)(a_call())


async def test_a_bare_value_becomes_a_result() -> None:
    result = await checked({"n": 1})

    assert (result.content, result.structured) == ('{"n":1}', {"n": 1})


async def test_a_broken_promise_is_the_tools_fault_and_hides_the_value() -> None:
    with pytest.raises(ToolOutputError) as caught:
        await checked("hunter2", output_schema={"type": "integer"})

    assert str(caught.value) == "'find' returned something that its own schema does not allow."
    assert "hunter2" in str(caught.value.__cause__)
