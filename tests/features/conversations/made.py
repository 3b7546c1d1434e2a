"""A board with a scripted model, and what a watcher of its conversations sees."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pegboard import tool
from pegboard.core.principal import LOCAL
from pegboard.features.conversations import ChatEvent, NewMessage
from pegboard.runtime import Pegboard, Settings
from pegboard.testing import ScriptedModel, Turn

BOARD = """
sources: []
policy: {ask: [refund]}
"""


@tool(effect="read")
def find_order(number: int) -> dict[str, Any]:
    """Find an order."""
    return {"number": number, "total": 12.5}


@tool(effect="write")
def refund(number: int) -> str:
    """Refund an order."""
    return f"order {number} is refunded"


@asynccontextmanager
async def a_board(
    folder: Path,
    *turns: Any,
    data: Path | None = None,
    tools: Any = (find_order, refund),
    wait: float = 600.0,
    kind: type[ScriptedModel] = ScriptedModel,
) -> AsyncGenerator[tuple[Pegboard, ScriptedModel]]:
    """A board whose agents are this script; `wait` is what questions of tools wait for."""
    (folder / "board.yaml").write_text(BOARD)
    model = kind(*turns)
    async with Pegboard(
        folder / "board.yaml",
        data=data,
        model=model,
        tools=tools,
        settings=Settings.from_environment().replace(question_timeout=wait),
    ) as board:
        yield board, model


async def ask(board: Pegboard, text: str, **known: Any) -> tuple[list[ChatEvent], str]:
    """Send a message and follow the answer; the events, and the id of the conversation."""
    exchange = await board.conversations.send(NewMessage(text=text, **known), principal=LOCAL)
    events = [
        event
        async for event in board.conversations.follow(
            exchange.conversation, until=exchange.id, principal=LOCAL
        )
    ]
    return events, exchange.conversation


def kinds(events: list[ChatEvent]) -> list[str]:
    """The kinds of events, those of text once in a row."""
    found: list[str] = []
    for event in events:
        if not found or found[-1] != event.event:
            found.append(event.event)
    return found


def text_of(events: list[ChatEvent]) -> str:
    """The answer as it was streamed."""
    return "".join(str(e.data["text"]) for e in events if e.event == "text_delta")


ORDER = Turn(calls=(("find_order", {"number": 7}),))
TOTAL = Turn(text="It is 12.50 euros.", expects=("12.5",))
