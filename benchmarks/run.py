"""Measure Pegboard beside its peers, print what came out, and write it into the documentation.

`make bench` runs this with the pinned peers. Named topics run alone, and
nothing is written.
"""

import asyncio
import logging
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from bulk import cost_of_bulk
from calling import cost_by_size, cost_of_a_call
from confining import cost_of_confining
from dependencies import cost_of_dependencies
from durable import cost_of_durability
from graphs import cost_of_graphs
from importing import cost_of_importing
from mcp_proxy import cost_of_proxying
from registering import cost_of_registering
from searching import cost_of_searching
from serving import cost_of_serving
from table import publish

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "performance.md"
PEERS = (
    "pydantic",
    "aimu",
    "pydantic-ai-slim",
    "fastmcp",
    "langchain-core",
    "langgraph",
    "langgraph-checkpoint-sqlite",
    "dbos",
)
TOPICS: dict[str, Callable[[], str]] = {
    "call": lambda: asyncio.run(cost_of_a_call()),
    "size": lambda: asyncio.run(cost_by_size()),
    "register": cost_of_registering,
    "bulk": lambda: asyncio.run(cost_of_bulk()),
    "import": cost_of_importing,
    "search": lambda: asyncio.run(cost_of_searching()),
    "dependencies": cost_of_dependencies,
    "graph": lambda: asyncio.run(cost_of_graphs()),
    "durable": cost_of_durability,
    "serve": cost_of_serving,
    "proxy": lambda: asyncio.run(cost_of_proxying()),
    "sandbox": lambda: asyncio.run(cost_of_confining()),
}


def main(names: list[str]) -> None:
    """Run the topics in order."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    began = time.monotonic()
    parts = [where()]
    print(parts[0], flush=True)
    for name in names or TOPICS:
        parts.append(TOPICS[name]())
        print(f"\n{parts[-1]}", flush=True)
    print(f"\n{time.monotonic() - began:.0f} s")
    if not names:
        publish(PAGE, "\n\n".join(parts))


def where() -> str:
    """On what the figures were measured."""
    versions = ", ".join(f"{name} {version(name)}" for name in PEERS)
    return (
        f"Measured with Pegboard {version('pegboard')} on Python {platform.python_version()}, "
        f"{os.cpu_count()} processors, beside {versions}."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
