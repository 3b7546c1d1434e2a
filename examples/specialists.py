"""One assistant that asks two agents at the same time, and refunds as a skill says.

A recording stands in for the models; the board is `specialists/board.yaml`. Run it with
`python examples/specialists.py`.
"""

import asyncio
from pathlib import Path

from pegboard import LOCAL, tool
from pegboard.core.model_messages import ModelRequest
from pegboard.features.conversations import NewMessage
from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn

BOARD = Path(__file__).parent / "specialists" / "board.yaml"
QUESTION = "The lamp of order 7 arrived broken. Refund it, and write to Ada."
TASKS = {"analyst": "How often has Ada ordered?", "writer": "Write to Ada that we refund a lamp."}


@tool(name="shop__find_order", effect="read")
def find_order(number: int) -> str:
    """Find an order, with its total."""
    return f"order {number}: a lamp, 40 euros"


@tool(name="shop__refund", effect="write")
def refund(number: int) -> str:
    """Refund an order."""
    return f"refunded order {number}"


@tool(name="shop__count_orders", effect="read")
def count_orders(customer: str) -> str:
    """Count the orders of a customer."""
    return f"{customer} has 12 orders"


def play(request: ModelRequest) -> Turn:
    """Answer as the assistant, or as one of the two agents that it asks."""
    texts = [message.text for message in request.messages]
    if TASKS["analyst"] in texts:
        if "12 orders" in texts[-1]:
            return Turn(text="Twelve times.")
        return Turn(calls=(("shop__count_orders", {"customer": "Ada"}),))
    if TASKS["writer"] in texts:
        return Turn(text="Dear Ada, the lamp is refunded.")
    if texts[-1] == QUESTION:
        tasks = [("call_agent", {"agent_id": who, "task": task}) for who, task in TASKS.items()]
        return Turn(calls=(*tasks, ("read_skill", {"name": "refunds"})))
    if texts[-1].startswith("# Refunds"):
        # the skill allows to find and to refund an order, and nothing else
        calls = [("shop__count_orders", {"customer": "Ada"}), ("shop__refund", {"number": 7})]
        return Turn(calls=tuple(calls))
    return Turn(text="Done: 40 euros, and Ada has a letter.")


async def main() -> None:
    """Ask, and print which calls were made, by whom, and how they ended."""
    tools = [find_order, refund, count_orders]
    model = ScriptedModel(*[play] * 6)
    async with Pegboard(BOARD, tools=tools, model=model) as board:
        sent = await board.conversations.send(NewMessage(text=QUESTION), principal=LOCAL)
        events = board.conversations.follow(sent.conversation, until=sent.id, principal=LOCAL)
        async for event in events:
            data = event.data
            if event.event == "tool_finished":
                who = "  an agent's" if "parent" in data else ""
                first = str(data["text"]).partition("\n")[0]
                print(f"{who} {data['tool']}: {data['state']}, {first}".strip())
            elif event.event == "done":
                print(data["text"])


if __name__ == "__main__":
    asyncio.run(main())
