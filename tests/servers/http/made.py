"""A board with a tool for each way in which a call can go, and a client of its door."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import httpx2
from pydantic import Field

from pegboard import Retry, ToolContext, ToolFailed, Unavailable, tool
from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.result import ImagePart, ResultMeta, ToolResult
from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.runtime import Pegboard, Settings
from pegboard.servers.http.app_factory import build_app
from pegboard.tools import SchemaTool

TOKEN = "correct horse battery staple"
LOOPBACK = "http://127.0.0.1:8321"
POLICY = """
sources: []
policy:
  deny: ["*secret*"]
  ask: ["refund"]
  limits:
    rationed: {rate: "1/h"}
"""


@tool(effect="read", category="computation", tags=("sum", "number"), capabilities=("adding",))
def add(a: int, b: Annotated[int, Field(ge=0)] = 0) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read", category="computation")
def echo(value: Any = None) -> Any:
    """Give the value back."""
    return value


@tool(effect="read")
def refuse() -> str:
    """Say no."""
    raise ToolFailed("Order 17 is already shipped.")


@tool(effect="read")
def crash() -> str:
    """Break."""
    raise RuntimeError("db-7.internal is down")


@tool(effect="read")
def lie() -> int:
    """Break the promise of an int."""
    return "many"  # type: ignore[return-value]  # the point of this tool


@tool(effect="read", retry=Retry(max_retries=0))
def busy() -> str:
    """Be busy."""
    raise Unavailable("The carrier is busy.", retry_after=6.2)


@tool(effect="read")
def away() -> str:
    """Be away for nobody knows how long."""
    raise Unavailable("The carrier is away.")


@tool(effect="read")
async def wait(seconds: float = 60.0) -> str:
    """Take a while."""
    await asyncio.sleep(seconds)
    return "done"


@tool(effect="read")
def rationed() -> str:
    """May be called once an hour."""
    return "here"


@tool(effect="write", idempotent=True)
def refund(invoice: int) -> str:
    """Pay money back."""
    return f"refunded {invoice}"


@tool(effect="write")
def note(text: str) -> str:
    """Write something down, each time anew."""
    NOTES.append(text)
    return f"note {len(NOTES)}"


@tool(effect="write", capabilities=("adding",), tags=("sum",))
def add_secret(key: str) -> str:
    """Nobody may know of this one."""
    return key


@tool(effect="read", max_result_bytes=1000)
def long_list() -> list[int]:
    """Give more than fits."""
    return list(range(1000))


@tool(effect="read")
def picture() -> ImagePart:
    """Paint."""
    return ImagePart(data=b"\x89PNG", media_type="image/png")


@tool(effect="read")
def half_a_pair() -> str:
    """Give half of a surrogate pair."""
    return "\ud800"


async def _model(arguments: Any, ctx: ToolContext[Any]) -> ToolResult:
    meta = ResultMeta(tokens=42, model="tiny-1", cost=0.5)
    return ToolResult(content="thought", meta=meta)


NOTES: list[str] = []
THINK: Tool = SchemaTool(
    spec=ToolSpec(
        name="think",
        description="Ask a model.",
        effect=Effect.READ,
        input_schema={"type": "object"},
        dependencies=("add_v1", "add_secret_v1", "gone_v1"),
    ),
    run=_model,
)
TOOLS = (
    *(add, echo, refuse, crash, lie, busy, away, wait, rationed, refund, note, add_secret),
    *(long_list, picture, half_a_pair, THINK),
)


def board_file(folder: Path, text: str = POLICY) -> Path:
    """A board file with these rules."""
    path = folder / "board.yaml"
    path.write_text(text)
    return path


def a_board(
    folder: Path,
    *,
    tools: Any = TOOLS,
    text: str = POLICY,
    model_given: ChatModel | None = None,
    **settings: Any,
) -> Pegboard:
    """The board, not open yet."""
    settings.setdefault("password_memory", 1)
    return Pegboard(
        board_file(folder, text),
        tools=tools,
        metrics=True,
        settings=Settings(**settings),
        model=model_given,
    )


@asynccontextmanager
async def client_of(
    board: Pegboard, *, base_url: str = LOOPBACK, console: Sequence[Path] = (), **headers: str
) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of the door of this board; the board is opened if it is not.

    It has no console unless it is given one, whether or not this clone has built it.
    """
    app = build_app(board, console=console)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), base_url=base_url, headers=headers
        ) as client,
    ):
        yield client
