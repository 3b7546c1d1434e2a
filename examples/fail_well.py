"""Four ways to fail, and what the model, the caller and the operator learn of each.

Run it with `python examples/fail_well.py`.
"""

import asyncio

from pegboard import CallRecord, ToolFailed, ToolRegistry, Unavailable, tool
from pegboard.core.event import Event
from pegboard.errors import InvalidRequest


@tool
def refund(order: int, amount: float) -> str:
    """Pay money back."""
    if amount <= 0:
        raise InvalidRequest("'amount' must be more than 0.")  # the caller can fix it
    if order == 17:
        raise ToolFailed("Order 17 is already refunded.")  # the tool says no
    if order == 18:
        raise Unavailable("The bank is closed.", retry_after=3600)  # later helps
    raise KeyError("card 4111-1111-1111-1111")  # a bug: nobody but the operator sees this text


class Operator:
    """Listens to calls; in a real program the log and the history do."""

    def on_event(self, event: Event) -> None:
        """Show the last line of the detail."""
        if isinstance(event, CallRecord):
            detail = event.error_detail.strip().splitlines() or ["nothing more"]
            causes = [line for line in detail if line.startswith("KeyError")]
            print(f"  operator: {event.status}; {(causes or detail[-1:])[0]}")


async def main() -> None:
    """Fail in each way once."""
    registry = ToolRegistry([refund], listeners=[Operator()])
    for order, amount in ((1, -5.0), (17, 5.0), (18, 5.0), (19, 5.0)):
        print(f"order {order}, amount {amount}")
        result = await registry.call("refund", {"order": order, "amount": amount})
        error = result.error
        assert error is not None
        print(f"  caller:   {error.code}, retryable: {error.retryable}, in: {error.retry_after}")
        print(f"  model:    {result.text}")


if __name__ == "__main__":
    asyncio.run(main())
