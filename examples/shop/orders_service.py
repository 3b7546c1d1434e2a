"""The shop's order service: a web API of its own, as a team would have it long before Pegboard.

Run it with `python orders_service.py PORT`; its OpenAPI document is at `/openapi.json`.
"""

import sys
from typing import Annotated, Literal

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Path, Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

TOKEN = "only-for-the-demo"
Status = Literal["open", "paid", "shipped", "cancelled"]


class Item(BaseModel):
    """One line of an order."""

    article: Annotated[int, Field(ge=1, description="Article number.")]
    quantity: Annotated[int, Field(ge=1, le=100)] = 1


class NewOrder(BaseModel):
    """What a customer wants."""

    customer: Annotated[int, Field(ge=1)]
    items: Annotated[list[Item], Field(min_length=1, max_length=20)]
    note: Annotated[str, Field(max_length=200)] = ""


class NewRefund(BaseModel):
    """Money that goes back."""

    amount: Annotated[float, Field(gt=0, le=500, description="In euros.")]


class Refund(NewRefund):
    """A refund that was paid."""

    refund_id: int
    order_id: int


class Order(NewOrder):
    """An order as the shop knows it."""

    id: int
    status: Status = "open"


def _checked(
    given: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())],
) -> None:
    if given.credentials != TOKEN:
        raise HTTPException(401, "This token is not known.")


app = FastAPI(title="Orders", version="1.4.0", dependencies=[Depends(_checked)])
ORDERS = {
    order.id: order
    for order in (
        Order(id=1001, customer=5, status="shipped", items=[Item(article=17)]),
        Order(id=1002, customer=23, status="paid", items=[Item(article=23)]),
        Order(id=1003, customer=5, status="open", items=[Item(article=4)]),
    )
}
REFUNDS: list[Refund] = []
OrderId = Annotated[int, Path(description="The number on the invoice.")]


@app.get("/orders", operation_id="list_orders", tags=["orders"])
def list_orders(
    status: Annotated[Status | None, Query(description="Only these.")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> list[Order]:
    """Orders, the oldest first."""
    found = [order for order in ORDERS.values() if status in (None, order.status)]
    return found[:limit]


@app.get("/orders/{order_id}", operation_id="get_order", tags=["orders"])
def get_order(order_id: OrderId) -> Order:
    """One order."""
    return _found(order_id)


@app.post("/orders", operation_id="create_order", tags=["orders"], status_code=201)
def create_order(order: NewOrder) -> Order:
    """Take an order."""
    number = max(ORDERS) + 1
    ORDERS[number] = Order(id=number, **order.model_dump())
    return ORDERS[number]


@app.post("/orders/{order_id}/cancel", operation_id="cancel_order", tags=["orders"])
def cancel_order(order_id: OrderId) -> Order:
    """Cancel an order that is not shipped yet."""
    order = _found(order_id)
    if order.status == "shipped":
        raise HTTPException(409, f"Order {order_id} is already shipped.")
    order.status = "cancelled"
    return order


@app.post("/orders/{order_id}/refunds", operation_id="refund_order", status_code=201)
def refund_order(order_id: OrderId, wanted: NewRefund) -> Refund:
    """Pay money back; asked twice, it is paid twice."""
    _found(order_id)
    refund = Refund(refund_id=501 + len(REFUNDS), order_id=order_id, amount=wanted.amount)
    REFUNDS.append(refund)
    return refund


@app.get("/refunds", operation_id="list_refunds")
def list_refunds() -> list[Refund]:
    """Every refund that was paid."""
    return REFUNDS


def _found(order_id: int) -> Order:
    order = ORDERS.get(order_id)
    if order is None:
        raise HTTPException(404, f"There is no order {order_id}.")
    return order


if __name__ == "__main__":
    uvicorn.run(app, fd=int(sys.argv[1]), log_level="warning")
