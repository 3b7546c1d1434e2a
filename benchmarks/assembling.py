"""What it costs to put together the tools of one request, by the number of registered tools."""

from itertools import islice
from typing import Any

from measure import cpu_us
from searching import catalogue
from table import goal, number, section, table

COUNTS = (10, 1_000, 10_000)
QUESTION = "Create an invoice in stripe, then send a message to the customer in slack."
LATER = "Which tickets are open in zendesk?"
GOAL_MS = 1.0


async def cost_of_assembling() -> str:
    """A toolset with the six tools for a question, rendered, for a first and a later message."""
    rows: list[list[str]] = []
    worst = 0.0
    for count in COUNTS:
        registry = _registry(count)
        cases = {"first": _case(registry, None, QUESTION)}
        cases["later"] = _case(registry, _shown(registry), LATER)
        costs = {name: us / 1_000 for name, us in (await cpu_us(cases, rounds=7)).items()}
        rows.append([f"{count:,}", number(costs["first"]), number(costs["later"])])
        worst = max(worst, *costs.values())
    return section(
        "The tools of one request",
        table(["tools", "first message, ms", "a later one, ms"], rows),
        goal("the slowest", worst, GOAL_MS, unit=" ms"),
    )


def _case(registry: Any, kept: Any, question: str) -> Any:
    async def assemble() -> None:
        selector = _selector(registry, kept)
        toolset = selector.assemble(selector.select(question))
        if len(toolset.model_tools) < 8:
            raise AssertionError(f"too few tools: {toolset.model_tools}")

    return assemble


def _shown(registry: Any) -> Any:
    return _selector(registry, None).select(QUESTION)


def _selector(registry: Any, kept: Any) -> Any:
    from pegboard.assembly import SelectionLimits, ToolSelector
    from pegboard.core.principal import LOCAL
    from pegboard.registry.toolset import Toolset

    return ToolSelector(
        Toolset(registry=registry, listed=()),
        principal=LOCAL,
        limits=SelectionLimits(always_listed=("slack__*_message",)),
        kept=kept,
        goes_on=True,
    )


def _registry(count: int) -> Any:
    from pegboard import SchemaTool, ToolRegistry, ToolSpec

    async def run(_arguments: object, _ctx: object) -> None:
        return None

    return ToolRegistry(
        SchemaTool(
            spec=ToolSpec(name=name, description=text, input_schema={"type": "object"}), run=run
        )
        for name, text in islice(catalogue(), count)
    )
