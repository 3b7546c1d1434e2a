"""One registry, two callers: what each may see and call, why, and how to stop everything at once.

Run it with `python examples/two_callers.py`.
"""

import asyncio

from pegboard import Policy, Principal, ToolContext, ToolRegistry, tool


@tool(effect="read")
def balance(account: str) -> int:
    """The balance of an account, in cents."""
    return len(account) * 100


@tool(effect="write", scopes=["payments"])
def pay(account: str, cents: int) -> str:
    """Pay from an account."""
    return f"paid {cents} from {account}"


@tool(effect="admin")
def close_account(account: str) -> str:
    """Close an account for good."""
    return f"{account} is closed"


CLERK = Principal(id="ann", scopes=frozenset({"payments"}))
GUEST = Principal(id="guest")


async def main() -> None:
    """Ask as both, then turn writes off."""
    registry = ToolRegistry([balance, pay, close_account], policy=Policy(ask=("pay",)))
    for who in (CLERK, GUEST):
        print(f"{who.id} sees {', '.join(tool.spec.name for tool in registry.visible(who))}")
        for tool_name in ("pay", "close_account"):
            answer = registry.explain(tool_name, principal=who).call
            print(f"  {tool_name}: {answer.verdict}, because {answer.reason}")

    trusting = registry.with_policy(Policy(allow=("pay",)))
    clerk: ToolContext = ToolContext(principal=CLERK)
    print((await trusting.call("pay", {"account": "x1", "cents": 5}, clerk)).text)

    registry.switches.turn_off(writes=True, reason="the books are being closed")
    print((await trusting.call("pay", {"account": "x1", "cents": 5}, clerk)).text)
    print((await trusting.call("balance", {"account": "x1"}, clerk)).text)


if __name__ == "__main__":
    asyncio.run(main())
