"""A chat over the shop: a person asks, an agent uses the board's tools, a refund is approved.

The model is scripted unless PEGBOARD_MODEL or OPENAI_BASE_URL names a real one. Run it with
`make demo`, or alone with `python examples/shop/ask.py`.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from output import cut, headline, say
from shop_model import create_shop_model

from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.principal import LOCAL
from pegboard.features.conversations import ChatEvent, NewMessage
from pegboard.runtime import Pegboard, Settings

HERE = Path(__file__).parent
GOAL = "Rank the artists, price a parcel of 2 kg to Paris, and count the stock of article 17."
QUESTIONS = (
    ("Which artists sell best, and what would 100 dollars net cost in France?", None),
    (GOAL, "dag"),
    ("Refund invoice 98, please.", "react"),
)
"""What is asked, and by which engine it is answered; None for the board's own."""


async def ask_the_shop() -> bool:
    """Ask all questions and approve the refund; whether all were answered."""
    headline("A chat over the shop")
    is_real = any(name in os.environ for name in ("PEGBOARD_MODEL", "OPENAI_BASE_URL"))  # noqa: TID251 - as the board reads them
    if not is_real:
        print("The model is scripted: set PEGBOARD_MODEL or OPENAI_BASE_URL for a real one.")
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(board=HERE / "board.yaml", data=Path(folder), list_timeout=60)
        model = None if is_real else create_shop_model()
        async with Pegboard(settings=settings, model=model) as board:
            await board.wait_for_sources()
            conversation = ""
            states: list[str] = []
            for question, engine in QUESTIONS:
                message = NewMessage(text=question, conversation=conversation, engine=engine)
                conversation, state = await ask(board, message)
                states.append(state)
            _, exchanges = await board.conversations.get(conversation, principal=LOCAL)
            records = (await board.history.calls(HistoryQuery())).calls
            calls = sum(record["status"] == "completed" for record in records)
            print(f"\n  {len(exchanges)} messages, {calls} calls: all of it is stored.")
    return states == ["completed"] * len(QUESTIONS)


async def ask(board: Pegboard, message: NewMessage) -> tuple[str, str]:
    """Ask, print what happens, approve what needs it; the conversation, and how it ended."""
    say(f"  Ada:   {message.text}")
    sent = await board.conversations.send(message, principal=LOCAL)
    answer = state = ""
    async for event in board.conversations.follow(
        sent.conversation, until=sent.id, principal=LOCAL
    ):
        show_event(event)
        if event.event == "approval_required":
            await board.approvals.decide(str(event.data["approval"]), "approve", principal=LOCAL)
            print("         Bob approves it.")
        if event.event == "done":
            answer, state = str(event.data["text"]), str(event.data["state"])
    print(f"  Agent: {answer or state}")
    return sent.conversation, state


def show_event(event: ChatEvent) -> None:
    """Print the plan and the calls of an answer."""
    data: Any = event.data
    if event.event == "plan":
        titles = ", ".join(step["title"] for step in data["steps"])
        print(f"         plans {len(data['steps'])} steps that run at the same time: {titles}")
    elif event.event == "tool_started":
        print(f"         calls {data['tool']} {cut(json.dumps(data['arguments']), 70)}")
    elif event.event == "approval_required":
        print(f"         {data['tool']} waits for an approval: {data['reason']}")
    elif event.event == "tool_finished":
        print(f"         {data['state']}: {cut(' '.join(str(data['text']).split()), 70)}")
    elif event.event == "error":
        print(f"         {data['detail']}")


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(ask_the_shop()) else 1)
