"""A scripted model for the shop: it knows a few wishes by their words, and decides nothing.

It says what a real model would have to say: which tools to call, the plan of a goal, and answers
that are made of what the tools have found.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from pegboard.core.model_messages import (
    AssistantMessage,
    ModelRequest,
    ToolMessage,
    UserMessage,
)
from pegboard.testing import ScriptedModel, Turn
from pegboard.testing.scripted_model import CallPlan

BEST = """SELECT Artist.Name AS artist, ROUND(SUM(il.UnitPrice * il.Quantity), 2) AS revenue
FROM InvoiceLine il JOIN Track USING (TrackId) JOIN Album USING (AlbumId)
JOIN Artist USING (ArtistId) GROUP BY artist ORDER BY revenue DESC LIMIT 5"""
INVOICE = """SELECT c.FirstName || ' ' || c.LastName AS customer, i.InvoiceDate, i.Total
FROM Invoice i JOIN Customer c USING (CustomerId) WHERE i.InvoiceId = """
PARCEL = "Ask the carrier what a parcel of 2 kg to Paris costs."
PLAN: dict[str, list[dict[str, Any]]] = {
    "steps": [
        {
            "id": "sellers",
            "title": "Rank the artists",
            "task": "Find out which artists sell best.",
            "dependencies": [],
        },
        {"id": "parcel", "title": "Price the parcel", "task": PARCEL, "dependencies": []},
        {
            "id": "stock",
            "title": "Count the stock",
            "task": "Count the pieces of article 17.",
            "dependencies": [],
        },
    ]
}
DONE = {"achieved": True, "confidence": 1, "reason": "Every step has a result.", "missing": ""}
RESULTS = "(What was done for this message"
HELP = """The model of this demo is scripted, and answers three requests:

* Who **sells best**?
* **Refund** invoice 98 (a person has to approve it)
* What does a **parcel** of 2 kg to France cost?

Set `PEGBOARD_MODEL` or `OPENAI_BASE_URL` for a real model."""
MOST_TURNS = 100_000


def create_shop_model() -> ScriptedModel:
    """A model that answers the same wishes again and again."""
    return ScriptedModel(*[answer_wish] * MOST_TURNS, name="scripted:shop")


def answer_wish(request: ModelRequest) -> Turn:
    """The next turn: a call that the last wish needs, or what its calls have found."""
    messages = request.messages
    if [item.name for item in request.tools] == ["answer"]:
        return give_object(request)
    asked = max(
        number
        for number, message in enumerate(messages)
        if isinstance(message, UserMessage)
        and (not message.is_note or message.text.startswith(RESULTS))  # else of the board
    )
    wish = str(getattr(messages[asked], "text", ""))
    wish = next((step["task"] for step in PLAN["steps"] if step["task"] in wish), wish)
    turn = sum(isinstance(message, AssistantMessage) for message in messages[asked:])
    found = [m.text for m in messages[asked:] if isinstance(m, ToolMessage)]
    if wish.startswith(RESULTS):
        return Turn(text=put_together(wish))
    if re.search(r"refund|money back", wish, re.IGNORECASE):
        return refund_invoice(request, wish, turn, found)
    if re.search(r"sell|best|artist", wish, re.IGNORECASE):
        return rank_artists(request, wish, turn, found)
    if re.search(r"parcel|ship|kg", wish, re.IGNORECASE):
        return price_parcel(request, turn, found)
    if re.search(r"pieces|stock", wish, re.IGNORECASE):
        return count_stock(request, turn, found)
    return Turn(text=HELP)


def give_object(request: ModelRequest) -> Turn:
    """The plan of a goal, or the judgement of its results."""
    properties = request.tools[0].parameters["properties"]
    return Turn(calls=(("answer", PLAN if "steps" in properties else DONE),))


def put_together(results: str) -> str:
    """The answer to a goal: what each step has said, without its headline."""
    _, *parts = results.split(" (completed):\n")
    texts = [part.rpartition("\n\n")[0] for part in parts[:-1]]  # what follows is the next headline
    return "\n\n".join([*texts, *parts[-1:]])


def count_stock(request: ModelRequest, turn: int, found: Sequence[str]) -> Turn:
    """How many pieces there are."""
    if turn == 0:
        return Turn(calls=(call(request, "shop__stock_count", article=17),))
    return Turn(text=f"There are **{found[-1]}** pieces of article 17.")


def rank_artists(request: ModelRequest, wish: str, turn: int, found: Sequence[str]) -> Turn:
    """A query, and at once a price where one is asked for; then a table."""
    is_price_asked = re.search(r"cost|price|tax", wish, re.IGNORECASE) is not None
    if turn == 0:
        query = call(request, "chinook__query", sql=BEST)
        price = call(request, "shop__price_with_tax", net=100, country="FR")
        return Turn(calls=(query, price) if is_price_asked else (query,))
    rows = read_rows(found[0])
    best = rows[0]["artist"] if rows else "Nobody"
    table = "\n".join(f"| {row['artist']} | {row['revenue']:.2f} |" for row in rows)
    taxed = f"\n\nIn France, 100 dollars net are `{found[1]}` with tax." if is_price_asked else ""
    return Turn(
        text=f"**{best}** sells best. By revenue, in dollars:\n\n"
        f"| artist | revenue |\n|---|---:|\n{table}{taxed}"
    )


def refund_invoice(request: ModelRequest, wish: str, turn: int, found: Sequence[str]) -> Turn:
    """Look at the invoice, refund it, and say what was done."""
    number = re.search(r"\d+", wish)
    invoice = int(number.group()) if number else 98
    if turn == 0:
        look = call(request, "chinook__query", sql=f"{INVOICE}{invoice}")
        return Turn(text="I look at the invoice first.", calls=(look,))
    rows = read_rows(found[0])
    if turn == 1 and rows:
        return Turn(
            calls=(call(request, "shop__refund", invoice=invoice, amount=rows[0]["Total"]),)
        )
    if not rows:
        return Turn(text=f"There is no invoice {invoice}.")
    return Turn(
        text=f"{rows[0]['customer']}'s invoice {invoice} is of **{rows[0]['Total']}** dollars. "
        f"{found[-1].capitalize()}."
    )


def read_rows(result: str) -> list[dict[str, Any]]:
    """The rows of a query; none if it failed."""
    return json.loads(result)["rows"] if result.startswith("{") else []


def price_parcel(request: ModelRequest, turn: int, found: Sequence[str]) -> Turn:
    """Ask the carrier, who is often busy at first."""
    if turn == 0:
        address = {"street": "Rue de Rivoli 1", "city": "Paris", "country": "FR"}
        quote = call(request, "shop__shipping_quote", address=address, weight_kg=2)
        return Turn(calls=(quote,))
    try:
        quoted = json.loads(found[-1])
    except ValueError:
        return Turn(text=f"The carrier gave no price: {found[-1]}")
    return Turn(
        text=f"{quoted['carrier']} takes it to Paris in {quoted['days']} days, "
        f"for **{quoted['price']:.2f}** dollars."
    )


def call(request: ModelRequest, tool: str, **arguments: object) -> CallPlan:
    """A call of a tool: by its name where it is listed, or else through `call_tool`."""
    listed = {item.name for item in request.tools}
    if tool in listed or "call_tool" not in listed:
        return tool, arguments
    return "call_tool", {"name": tool, "arguments": arguments}
