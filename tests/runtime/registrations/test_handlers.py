"""What runs an entry is opened by the first call, where nobody has to know more before."""

from contextlib import AsyncExitStack
from typing import Any

from tests.network.loopback import always, client_for, reply, serving

from pegboard import ToolRegistry
from pegboard.core.ports.services import Services
from pegboard.runtime.board_file.models import ToolEntry
from pegboard.runtime.registrations.handlers import HandlerContext, open_handler
from pegboard.runtime.registrations.tools import build_entry_tool


class Counted(AsyncExitStack):
    """Counts what was opened and has to be closed."""

    times = 0

    def push_async_callback(self, callback: Any, /, *args: Any, **kwds: Any) -> Any:
        self.times += 1
        return super().push_async_callback(callback, *args, **kwds)


def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def whisper(text: str) -> str:
    """Say it softer."""
    return text.lower()


def an_entry(**said: Any) -> ToolEntry:
    return ToolEntry.model_validate({"tool_id": "x_v1", **said})


async def test_an_address_is_opened_once_and_by_the_first_call() -> None:
    said = reply(b'{"a": 1}', headers={"Content-Type": "application/json"})
    async with serving(always(said)) as api, client_for(api) as http, Counted() as stack:
        opening = HandlerContext(services=Services(http=http), within=60, stack=stack)
        url = f"http://{api.authority}/a"
        entry = an_entry(type="RestAPI", url=url, input_schema={"q": "string"})
        tool = await open_handler(entry, opening, where="here")
        before = stack.times
        registry = ToolRegistry([tool])
        answers = [await registry.call(tool.spec.name, {"q": "x"}) for _ in range(2)]

        assert (before, stack.times) == (0, 1)
        assert [answer.structured for answer in answers] == [{"a": 1}] * 2
        assert [item.path for item in api.requests] == ["/a?q=x"] * 2


async def test_what_only_opening_tells_is_opened_at_once() -> None:
    async with Counted() as stack:
        opening = HandlerContext(services=Services(), within=60, stack=stack)
        entry = an_entry(
            type="PythonFunction", **{"import": "tests.runtime.registrations.test_handlers:shout"}
        )
        other = an_entry(type="PythonFunction", **{"import": f"{entry.import_[:-5]}whisper"})
        tool = await open_handler(entry, opening, where="here")

        assert (stack.times, tool.spec.action) == (1, "shout")
        assert await open_handler(entry, opening, where="here") is tool
        assert await open_handler(other, opening, where="here") is not tool


async def test_types_of_a_function_are_read_by_the_first_call() -> None:
    async with Counted() as stack:
        opening = HandlerContext(services=Services(), within=60, stack=stack)
        entry = an_entry(
            type="PythonFunction",
            input_schema={"text": "string"},
            **{"import": "tests.runtime.registrations.test_handlers:whisper"},
        )
        function = await open_handler(entry, opening, where="here")
        registry = ToolRegistry([await build_entry_tool(entry, opening, where="here")])
        before = "arguments" in vars(function)
        answer = await registry.call("x", {"text": "A"})

        assert (answer.unwrap(), before, "arguments" in vars(function)) == ("a", False, True)
