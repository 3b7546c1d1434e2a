"""Measure Pegboard beside its peers, print what came out, and write it into the documentation.

`make bench` runs this with the pinned peers. Named topics run alone, and
nothing is written. Each topic has a process of its own: what one leaves in memory, the garbage
collector of the next would look through.
"""

import asyncio
import inspect
import logging
import os
import platform
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

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
    "langchain",
    "openai-agents",
    "agent-framework-core",
    "dbos",
    "bm25s",
)
TOPICS = {
    "call": "calling:cost_of_a_call",
    "size": "calling:cost_by_size",
    "large": "large_results:cost_of_a_large_result",
    "loop": "loop:cost_of_a_turn",
    "register": "registering:cost_of_registering",
    "bulk": "bulk:cost_of_bulk",
    "types": "bulk:cost_of_types",
    "import": "importing:cost_of_importing",
    "search": "searching:cost_of_searching",
    "selection": "selection:quality_of_selection",
    "retrieval": "retrieval:quality_of_retrieval",
    "grounding": "grounding:quality_of_grounding",
    "assemble": "assembling:cost_of_assembling",
    "assemble-peers": "assembling:cost_beside_peers",
    "others": "assembling:cost_of_others",
    "trust": "trust:attacks_held",
    "prompt-cache": "prompt_cache:cost_of_conversations",
    "dependencies": "dependencies:cost_of_dependencies",
    "graph": "graphs:cost_of_graphs",
    "durable": "durable:cost_of_durability",
    "open": "opening:cost_of_opening",
    "serve": "serving:cost_of_serving",
    "execute": "executing:cost_of_executing",
    "proxy": "mcp_proxy:cost_of_proxying",
    "proxy-server": "mcp_proxy:cost_of_serving_a_proxy",
    "sandbox": "confining:cost_of_confining",
}
"""Functions that give a section of the page."""


def main(names: list[str]) -> None:
    """Run the topics in order."""
    began = time.monotonic()
    parts = [where()]
    print(parts[0], flush=True)
    spawn = get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as processes:
        for part in processes.map(measured, names or TOPICS):
            parts.append(part)
            print(f"\n{part}", flush=True)
    print(f"\n{time.monotonic() - began:.0f} s")
    if not names:
        publish(PAGE, "\n\n".join(parts))


def measured(name: str) -> str:
    """The section of one topic."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    module, _, function = TOPICS[name].partition(":")
    found = getattr(import_module(module), function)()
    return asyncio.run(found) if inspect.iscoroutine(found) else found


def where() -> str:
    """On what the figures were measured."""
    versions = ", ".join(f"{name} {version(name)}" for name in PEERS)
    return (
        f"Measured with Pegboard {version('pegboard')} on Python {platform.python_version()}, "
        f"{os.cpu_count()} processors, beside {versions}."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
