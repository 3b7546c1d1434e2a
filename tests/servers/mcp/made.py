"""A board with something of each kind that MCP knows, and clients of its door."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

from mcp import Client
from pydantic import Field

from pegboard import Artifact, SchemaTool, ToolContext, ToolFailed, ToolResult, Unavailable, tool
from pegboard.core.elicitation import Question, SampleMessage, SampleRequest
from pegboard.core.event import CallRecord
from pegboard.core.resources_and_prompts import Completion, ResourceSpec
from pegboard.core.result import AudioPart, ImagePart, Part, ResourcePart, TextPart
from pegboard.core.tool import Effect, ToolSpec
from pegboard.runtime import Pegboard, Settings
from pegboard.servers.mcp.server import BoardServer
from pegboard.tools import prompt, resource
from pegboard.tools.resources_and_prompts import offer_of

T = TypeVar("T")
ERAS = ("legacy", "2026-07-28")
POLICY = """
sources: []
policy: {deny: ["*secret*"], ask: ["refund"]}
"""
RUNS: list[str] = []


@tool(effect="read", category="computation", title="Add up")
def add(a: int, b: Annotated[int, Field(ge=0)] = 0) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read", category="web")
def person() -> dict[str, Any]:
    """Give an object without a promise."""
    return {"name": "Ada"}


@tool(effect="write")
def note(text: str) -> str:
    """Write something down, each time anew."""
    RUNS.append(text)
    return f"note {len(RUNS)}"


@tool(effect="read")
def refuse() -> str:
    """Say no."""
    raise ToolFailed("Order 17 is already shipped.")


@tool(effect="read")
def crash() -> str:
    """Break."""
    raise RuntimeError("db-7.internal is down")


@tool(effect="read")
def busy() -> str:
    """Be busy."""
    raise Unavailable("The carrier is busy.", retry_after=6.2)


@tool(effect="admin")
def refund(invoice: int) -> str:
    """Pay money back."""
    return f"refunded {invoice}"


@tool(effect="write")
def the_secret(key: str) -> str:
    """Nobody may know of this one."""
    return key


@tool(effect="read", max_result_bytes=200)
def long_list() -> list[int]:
    """Give more than fits."""
    return list(range(1000))


@tool(effect="read")
def everything() -> list[Part]:
    """Give a part of each kind."""
    return [
        TextPart(text="half a pair: \ud800"),
        ImagePart(data=b"\x89PNG", media_type="image/png"),
        AudioPart(data=b"RIFF", media_type="audio/wav"),
        ResourcePart(uri="docs://a", media_type="text/plain", text="of a"),
        ResourcePart(uri="docs://b", data=b"\x00"),
        ResourcePart(uri="docs://c", media_type="text/plain"),
    ]


@tool(effect="read")
def report() -> Artifact:
    """Write a file."""
    return Artifact(name="report.csv", media_type="text/csv", data=b"a,b\n1,2\n")


@tool(effect="read")
async def wait(seconds: float = 60.0) -> str:
    """Take a while."""
    RUNS.append("began")
    await asyncio.sleep(seconds)
    return "done"


@tool(effect="read")
async def talk(ctx: ToolContext) -> str:
    """Tell of progress, back and forth, and say things at several levels."""
    for done in (1, 2, 1, 3):
        await ctx.progress(done, total=3, message=f"step {done}")
        await asyncio.sleep(0)
    for level in ("debug", "info", "error"):
        await ctx.tell({"at": level}, level=level)
    await ctx.call("mumble")
    return "told"


@tool(effect="read")
async def mumble(ctx: ToolContext) -> str:
    """Tell of progress of its own."""
    await ctx.progress(100, total=100)
    return "mumbled"


@tool(effect="read")
async def ask(ctx: ToolContext) -> str:
    """Ask for a name, once."""
    RUNS.append("asked")
    answer = await ctx.ask(NAME)
    return f"{answer.action}: {answer.content.get('name', '')}"


@tool(effect="read")
async def ask_twice(ctx: ToolContext) -> str:
    """Ask two things at once, then a third."""
    async with asyncio.TaskGroup() as group:
        first = group.create_task(ctx.ask(NAME))
        second = group.create_task(ctx.sample(THOUGHT))
    third = await ctx.ask(NAME)
    said = "".join(part.text for part in second.result().content if isinstance(part, TextPart))
    return f"{first.result().content['name']} {said} {third.content['name']}"


@tool(effect="read")
async def send_away(ctx: ToolContext) -> str:
    """Send the person to a page."""
    answer = await ctx.ask(Question(message="Log in", url="https://example.org/login"))
    return answer.action


@tool(effect="read")
async def think(ctx: ToolContext) -> str:
    """Ask the caller's model."""
    sample = await ctx.sample(THOUGHT)
    said = "".join(part.text for part in sample.content if isinstance(part, TextPart))
    return f"{sample.model}: {said}"


NAME = Question(
    message="What is your name?",
    schema={
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
    },
    name="your_name",
)
THOUGHT = SampleRequest(
    messages=(
        SampleMessage(
            role="user",
            content=(TextPart(text="Think"), ResourcePart(uri="docs://a", text="of a")),
        ),
    ),
    system_prompt="Briefly.",
    preferences={"speedPriority": 1.0},
)


@resource("docs://handbook", media_type="text/markdown")
def handbook() -> str:
    """The handbook."""
    return "# Handbook"


@resource("docs://secret")
def secret_page() -> str:
    """Nobody may know of this one."""
    return "psst"


@resource("docs://broken")
def broken_page() -> str:
    """A page that cannot be read."""
    raise ToolFailed("The page is torn.")


class Pages:
    """A template that completes its places."""

    spec = ResourceSpec(
        uri="pages://{page}",
        name="page",
        title="A page",
        media_type="text/plain",
        audience=("assistant",),
        priority=0.5,
    )

    async def read(self, uri: str, _ctx: Any, /) -> Sequence[ResourcePart]:
        return [ResourcePart(uri=uri, media_type="text/plain", text=f"page at {uri}")]

    async def complete(
        self, _argument: str, value: str, given: Mapping[str, str], _ctx: Any, /
    ) -> Completion:
        found = tuple(f"{value}{number}" for number in range(150))
        return Completion(values=found, total=150)


@prompt(title="Review")
def review(code: str, language: str = "python") -> str:
    """Ask for a review.

    Args:
        code: What is looked at.
    """
    return f"Review this {language}: {code}"


@prompt
async def ask_prompt(ctx: ToolContext) -> str:
    """A prompt that asks."""
    answer = await ctx.ask(NAME)
    return f"Dear {answer.content['name']}"


async def _prose(_arguments: Any, _ctx: Any) -> ToolResult:
    return ToolResult(content="in prose")


PROSE = SchemaTool(
    spec=ToolSpec(
        name="prose",
        description="Promise a number, and answer in prose.",
        effect=Effect.READ,
        input_schema={"type": "object"},
        output_schema={"type": "number"},
    ),
    run=_prose,
)
TOOLS = (
    *(add, person, note, refuse, crash, busy, refund, the_secret, long_list, everything, report),
    *(wait, talk, mumble, ask, ask_twice, send_away, think, PROSE),
)


class Records:
    """Keeps the record of each call."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def on_event(self, event: Any) -> None:
        """One more."""
        if isinstance(event, CallRecord):
            self.calls.append(event)


@asynccontextmanager
async def a_board(
    folder: Path, *, tools: Any = TOOLS, text: str = POLICY, records: Any = None, **settings: Any
) -> AsyncGenerator[Pegboard]:
    """An open board with all of this."""
    path = folder / "board.yaml"
    path.write_text(text)
    listeners = [records] if records is not None else []
    given = Settings(**settings)
    RUNS.clear()
    async with Pegboard(path, tools=tools, listeners=listeners, settings=given) as board:
        offers = board.registry.offers
        for function in (handbook, secret_page, broken_page):
            offers.add_resource(offer_of(function))  # type: ignore[arg-type]  # `@resource` made it
        offers.add_resource(Pages())
        for function in (review, ask_prompt):
            offers.add_prompt(offer_of(function))  # type: ignore[arg-type]  # `@prompt` made it
        yield board


@asynccontextmanager
async def a_server(board: Pegboard, **given: Any) -> AsyncGenerator[BoardServer]:
    """The door of a board."""
    server = BoardServer(board, **given)
    try:
        yield server
    finally:
        await server.close()


@asynccontextmanager
async def held(opening: AbstractAsyncContextManager[T]) -> AsyncGenerator[T]:
    """Opened and closed by one task, as task groups want it, whoever uses it meanwhile."""
    opened: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    closing = asyncio.Event()

    async def hold() -> None:
        async with opening as value:
            opened.set_result(value)
            await closing.wait()

    holding = asyncio.create_task(hold())
    await asyncio.wait((holding, opened), return_when=asyncio.FIRST_COMPLETED)
    if holding.done():
        holding.result()
    try:
        yield await opened
    finally:
        closing.set()
        await holding


@asynccontextmanager
async def a_client(server: BoardServer, era: str, **given: Any) -> AsyncGenerator[Any]:
    """A client within this process, in one of the eras."""
    async with Client(server.sdk, mode=era, **given) as client:
        yield client


async def until(happened: Callable[[], bool]) -> None:
    """Return once it happened; fail when it takes too long."""
    for _ in range(3_000):
        if happened():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")
