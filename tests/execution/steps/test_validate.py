"""Arguments are read before anything else; a wrong call goes no further."""

from typing import Any

import pytest
from tests.execution.made import ADA, BOB, DONE, Following, a_call, a_kit, a_spec, a_target

from pegboard.access import Policy
from pegboard.core.ports.call_stores import StoredResult
from pegboard.core.result import RESULT_URI
from pegboard.core.stores.memory_results import MemoryResults
from pegboard.errors import AccessDenied, HandleNotFound, ToolArgumentError
from pegboard.execution.results.handles import FORMAT
from pegboard.execution.steps.validate import validate

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "rows": {"type": "array"},
        "at": {"type": "string", "format": FORMAT},
    },
    "additionalProperties": False,
}
HANDLE = f"{RESULT_URI}abc"


async def results() -> MemoryResults:
    store = MemoryResults()
    await store.put(
        StoredResult(
            handle=HANDLE,
            owner="acme/ada",
            media_type="application/json",
            body=b"[1, 2]",
            created_at=0,
            expires_at=9e9,
        )
    )
    return store


async def read(raw: Any, following: Following, **call: Any) -> Any:
    run = a_call(raw, **call)
    kit = a_kit(results=await results())
    await validate(a_target(a_spec(input_schema=SCHEMA)), kit, following)(run)
    return run.arguments


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ({"n": 1}, {"n": 1}),
        ('{"n": "1"}', {"n": 1}),
        (b'{"n": 1}', {"n": 1}),
        (None, {}),
        ("", {}),
        ({"rows": HANDLE}, {"rows": [1, 2]}),
        (f'{{"rows": "{HANDLE}", "at": "{HANDLE}"}}', {"rows": [1, 2], "at": HANDLE}),
        ('{"rows": "pegboard:\\/\\/results\\/abc"}', {"rows": [1, 2]}),
    ],
    ids=str,
)
async def test_arguments_are_read_and_handles_filled_in(
    raw: Any, arguments: dict[str, Any]
) -> None:
    following = Following()

    assert await read(raw, following) == arguments
    assert following.calls == 1


@pytest.mark.parametrize(
    "raw",
    [{"n": "x"}, {"m": 1}, "not json", "[1]", b"\xff", [1], 5, "5", {"rows": {"n": HANDLE}}],
    ids=repr,
)
async def test_a_wrong_call_goes_no_further(raw: Any) -> None:
    following = Following()

    with pytest.raises(ToolArgumentError, match="Invalid arguments for 'find'"):
        await read(raw, following)

    assert following.calls == 0


async def test_a_handle_of_somebody_else_goes_no_further() -> None:
    following = Following()

    with pytest.raises(HandleNotFound):
        await read({"rows": HANDLE}, following, principal=BOB)

    assert following.calls == 0
    assert await read({"rows": HANDLE}, following, principal=ADA) == {"rows": [1, 2]}


async def test_what_follows_gives_the_result() -> None:
    assert await validate(a_target(), a_kit(), Following())(a_call({})) == DONE


@pytest.mark.parametrize("raw", [{"n": "x"}, {"rows": HANDLE, "n": "x"}], ids=repr)
async def test_a_caller_who_may_not_call_is_not_told_what_the_tool_wants(raw: Any) -> None:
    kit = a_kit(results=await results(), policy=Policy(deny=("find",)))
    run = a_call(raw)

    with pytest.raises(AccessDenied) as denied:
        await validate(a_target(a_spec(input_schema=SCHEMA)), kit, Following())(run)

    assert "integer" not in str(denied.value)
    assert run.decision is not None
    assert run.decision.rule == "policy.deny[0]"
