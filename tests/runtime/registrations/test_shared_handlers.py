import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.runtime.registrations.test_handlers import Counted, an_entry

from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import SourceUnavailable
from pegboard.runtime.registrations.handlers import HandlerContext, open_handler
from pegboard.runtime.registrations.shared_handlers import SharedHandlers
from pegboard.tools import SchemaTool


def a_tool() -> Tool:
    async def run(_arguments: object, _ctx: object) -> str:
        return "ran"

    return SchemaTool(spec=ToolSpec(name="t", input_schema={"type": "object"}), run=run)


class Slow:
    """Opens a tool once it may, and counts how often it is asked."""

    def __init__(self) -> None:
        self.times = 0
        self.may_go = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> Tool:
        self.times += 1
        await self.may_go.wait()
        if self.error is not None:
            raise self.error
        return a_tool()


async def test_who_asks_while_it_is_opened_waits_for_the_same() -> None:
    shared, slow = SharedHandlers(), Slow()
    asking = [asyncio.create_task(shared.get("a", slow)) for _ in range(3)]
    await asyncio.sleep(0)
    slow.may_go.set()
    found = [await task for task in asking]

    assert (slow.times, len({id(tool) for tool in found})) == (1, 1)
    assert await shared.get("a", slow) is found[0]
    assert await shared.get("b", slow) is not found[0]


async def test_what_cannot_be_opened_is_told_to_all_who_ask() -> None:
    shared, slow = SharedHandlers(), Slow()
    slow.error = SourceUnavailable("it is not there")
    slow.may_go.set()
    for _ in range(2):
        with pytest.raises(SourceUnavailable, match="it is not there"):
            await shared.get("a", slow)

    assert slow.times == 1


async def test_who_waits_may_give_up_alone() -> None:
    shared, slow = SharedHandlers(), Slow()
    first = asyncio.create_task(shared.get("a", slow))
    await asyncio.sleep(0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await shared.get("a", slow)
    slow.may_go.set()

    assert (await first).spec.name == "t"


async def test_who_waits_tries_again_when_the_first_gives_up() -> None:
    shared, slow = SharedHandlers(), Slow()
    first = asyncio.create_task(shared.get("a", slow))
    await asyncio.sleep(0)
    others = [asyncio.create_task(shared.get("a", slow)) for _ in range(2)]
    await asyncio.sleep(0)
    first.cancel()
    slow.may_go.set()
    found = [await task for task in others]

    assert found[0] is found[1]
    assert slow.times == 2


async def test_a_failure_that_nobody_foresaw_is_told_to_each_who_tries() -> None:
    shared, slow = SharedHandlers(), Slow()
    slow.error = ValueError("odd")
    asking = [asyncio.create_task(shared.get("a", slow)) for _ in range(2)]
    await asyncio.sleep(0)
    slow.may_go.set()
    await asyncio.wait(asking)

    assert [str(task.exception()) for task in asking] == ["odd", "odd"]
    assert slow.times == 2


async def test_what_was_given_up_is_opened_anew() -> None:
    shared, slow = SharedHandlers(), Slow()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await shared.get("a", slow)
    slow.may_go.set()

    assert (await shared.get("a", slow)).spec.name == "t"
    assert slow.times == 2


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        pytest.param({"description": "Other words."}, True, id="other words"),
        pytest.param({"tool_id": "y_v1", "name": "Y"}, True, id="another name"),
        pytest.param({"input_schema": {"a": "string"}}, False, id="another schema"),
        pytest.param({"timeout_ms": 5}, False, id="another timeout"),
        pytest.param({"description": ""}, False, id="the words of the script"),
        pytest.param({"script_path": "b.py"}, False, id="another script"),
    ],
)
async def test_entries_of_one_script_share_it_where_nothing_tells_them_apart(
    tmp_path: Path, other: dict[str, object], *, is_same: bool
) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("print(1)\n")
    async with Counted() as stack:
        opening = HandlerContext(services=Services(base_dir=tmp_path), within=60, stack=stack)
        said = {"type": "LocalScript", "script_path": "a.py", "description": "Words."}
        first = await open_handler(an_entry(**said), opening, where="here")
        second = await open_handler(an_entry(**said | other), opening, where="here")

    assert ((first is second), stack.times) == (is_same, 1 if is_same else 2)


async def test_each_request_looks_anew(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        entry = an_entry(type="LocalScript", script_path="a.py")
        services = Services(base_dir=tmp_path)
        reasons: list[str] = []
        for _ in range(2):
            opening = HandlerContext(services=services, within=60, stack=stack)
            reasons.append((await open_handler(entry, opening, where="here")).spec.unavailable)
            (tmp_path / "a.py").write_text("print(1)\n")

    assert "there is no file or folder 'a.py'" in reasons[0]
    assert "there is no file or folder" not in reasons[1]
