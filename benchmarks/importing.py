"""What `import` costs: a whole process that imports, less one that does not."""

from measure import process_cpu_s
from table import goal, number, section, table

FLOOR = "from pydantic import BaseModel, TypeAdapter"
OURS = "from pegboard import tool, ToolRegistry"
FIRST = "from pegboard import ToolRegistry; ToolRegistry()"
PEERS = (
    "import aimu",
    "from langchain_core.tools import tool",
    "from langgraph.prebuilt import ToolNode",
    "from pydantic_ai import Agent",
    "from fastmcp import FastMCP",
)


def cost_of_importing() -> str:
    """The table of imports."""
    bare = process_cpu_s("pass", rounds=7)
    costs = {line: process_cpu_s(line, rounds=7) - bare for line in (FLOOR, OURS)}
    costs[FIRST] = process_cpu_s(FIRST, rounds=7) - bare
    costs |= {line: process_cpu_s(line, rounds=3) - bare for line in PEERS}
    rows = [
        [f"`{line}`", number(cost), f"{number(cost / costs[FLOOR])}x"]
        for line, cost in costs.items()
    ]
    return section(
        "Importing",
        table(["", "CPU, s", "multiple of pydantic's"], rows),
        goal("ours against pydantic's", costs[OURS] / costs[FLOOR], 1.5, unit="x"),
    )
