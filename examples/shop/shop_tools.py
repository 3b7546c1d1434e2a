"""A small record shop's own functions: what its database alone cannot do."""

import asyncio
import itertools
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from pegboard import Retry, ToolContext, ToolFailed, Unavailable, tool

_QUOTES = itertools.count(1)


class Address(BaseModel):
    """Where a parcel goes."""

    street: str
    city: str
    country: Annotated[str, Field(min_length=2, max_length=2, description="ISO 3166, `DE`.")]


class Quote(BaseModel):
    """What sending costs."""

    carrier: str
    price: float
    days: int


@tool(effect="read", category="computation", inline=True, idempotent=True)
def price_with_tax(
    net: Annotated[float, Field(ge=0)], country: Literal["DE", "FR", "US"] = "DE"
) -> float:
    """What a customer pays for a net price.

    Args:
        net: Price without tax, in dollars.
        country: Decides the rate.
    """
    rate = {"DE": 0.19, "FR": 0.20, "US": 0.0}[country]
    return round(net * (1 + rate), 2)


@tool(effect="read", retry=Retry(max_retries=3, backoff=0.02), timeout=20)
async def shipping_quote(address: Address, weight_kg: Annotated[float, Field(gt=0)]) -> Quote:
    """Ask the carrier what a parcel costs; the carrier is often busy at first."""
    if next(_QUOTES) % 3 != 0:
        raise Unavailable("The carrier is busy.", nothing_done=True)
    distant = address.country != "DE"
    return Quote(carrier="Postillion", price=4.5 + 2.1 * weight_kg, days=5 if distant else 2)


@tool(effect="write", idempotent=True)
async def refund(invoice: int, amount: Annotated[float, Field(gt=0, le=500)]) -> str:
    """Pay money back to a customer."""
    return f"refunded {amount:.2f} for invoice {invoice}"


@tool(effect="admin")
def delete_customer(customer: int) -> str:
    """Remove a customer and everything that belongs to them."""
    return f"customer {customer} is gone"


@tool(effect="read")
def full_catalogue(ctx: ToolContext) -> list[dict[str, str | int]]:
    """Every article number with its shelf; far too much to read at once."""
    ctx.log.info("exporting")
    return [{"article": number, "shelf": f"A{number % 97:02d}"} for number in range(6000)]


@tool(effect="read")
async def stock_count(article: int) -> int:
    """How many pieces of an article are there."""
    await asyncio.sleep(0.05)
    if article < 0:
        raise ToolFailed(f"There is no article {article}.")
    return article * 7 % 40
