"""A model's tool loop: hand over the tools, run what it asks for, hand back what came out.

The replies here are a recording, in the format of OpenAI's chat completions, so that the program
runs without a key. In your own loop, `reply` is the provider's client.

Run it with `python examples/tool_loop.py`.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

from pegboard import ToolRegistry, tool

STOCK = {"espresso": 12, "filter": 0}


@tool(effect="read", inline=True)
def stock(blend: str) -> int:
    """How many bags of a coffee blend are in stock."""
    return STOCK[blend]


@tool(effect="write")
def order(blend: str, bags: int) -> str:
    """Order bags of a coffee blend from the roaster."""
    return f"ordered {bags} bags of {blend}"


def asks(*calls: tuple[str, str]) -> dict[str, Any]:
    """What a model says when it wants tools."""
    return {
        "role": "assistant",
        "tool_calls": [
            {"id": f"call_{place}", "type": "function", "function": {"name": n, "arguments": a}}
            for place, (n, a) in enumerate(calls)
        ],
    }


RECORDING: Iterator[dict[str, Any]] = iter(
    [
        asks(("stock", '{"blend": "espresso"}'), ("stock", '{"name": "filter"}')),
        asks(("stock", '{"blend": "filter"}')),
        asks(("order", '{"blend": "filter", "bags": "6"}')),
        {"role": "assistant", "content": "Filter was sold out; I ordered 6 bags."},
    ]
)


def reply(_messages: list[dict[str, Any]], _tools: list[dict[str, Any]]) -> dict[str, Any]:
    """What the model says next."""
    return next(RECORDING)


async def main() -> None:
    """Run the loop until the model has nothing more to ask."""
    registry = ToolRegistry([stock, order])
    tools = registry.openai_tools()
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Keep every blend in stock."}]
    while True:
        message = reply(messages, tools)
        messages.append(message)
        if "tool_calls" not in message:
            break
        wanted = [item["function"] for item in message["tool_calls"]]
        results = await registry.call_many([(f["name"], f["arguments"]) for f in wanted])
        for item, result in zip(message["tool_calls"], results, strict=True):
            print(f"{item['function']['name']} {item['function']['arguments']}\n  {result.text}")
            messages.append({"role": "tool", "tool_call_id": item["id"], "content": result.text})
    print(messages[-1]["content"])


if __name__ == "__main__":
    asyncio.run(main())
