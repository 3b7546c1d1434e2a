"""What the record shop does itself when a customer sends something back."""

import asyncio
import os
from typing import Annotated, Any

from pydantic import BaseModel, Field

from pegboard import ToolFailed, tool


class Terms(BaseModel):
    """What a customer gets back."""

    amount: float


class Price(BaseModel):
    """What sending a parcel costs."""

    carrier: str
    price: float


@tool(effect="read", capabilities=("refund_amount",))
def refund_amount(rows: list[dict[str, Any]]) -> Terms:
    """Work out what is paid back, from the rows of an invoice."""
    if not rows:
        raise ToolFailed("There is no such invoice.")
    return Terms(amount=round(sum(float(row["paid"]) for row in rows), 2))


@tool(effect="read", capabilities=("return_price",))
def post_price(weight_kg: Annotated[float, Field(gt=0)]) -> Price:
    """What the post takes for a parcel, by its printed tariff."""
    return Price(carrier="the post", price=round(4.5 + 2.1 * weight_kg, 2))


@tool(effect="read", capabilities=("write_letter",), timeout=60)
async def write_letter(refund_id: int, amount: float, carrier: str, price: float) -> str:
    """Write to the customer; the writing office takes its time."""
    await asyncio.sleep(float(os.environ.get("LETTER_SECONDS", "3")))  # noqa: TID251 - the demo's
    return (
        f"Refund {refund_id}: you get back {amount:.2f}. Send it with {carrier}, for {price:.2f}."
    )
