"""What it costs to put together the tools of one request, by the number of visible tools."""

from itertools import cycle, islice
from typing import Any

from measure import cpu_us
from searching import catalogue
from table import goal, number, section, table

COUNTS = (10, 1_000, 10_000)
CALLERS = 1_000
KINDS = ("openapi", "sql", "mcp")
QUESTION = "Create an invoice in stripe, then send a message to the customer in slack."
LATER = "Which tickets are open in zendesk?"
GOAL_MS = 1.0


async def cost_of_assembling() -> str:
    """All steps for a question: for a first message, a later one, and one of another caller."""
    rows: list[list[str]] = []
    worst = 0.0
    for count in COUNTS:
        registry = _registry(count)
        cases = {
            "first": _case(registry, None, QUESTION),
            "later": _case(registry, _shown(registry), LATER),
            "others": _case(registry, _shown(registry), LATER, callers=CALLERS),
        }
        costs = {name: us / 1_000 for name, us in (await cpu_us(cases, rounds=7)).items()}
        rows.append([f"{count:,}", *map(number, costs.values())])
        worst = max(worst, costs["later"], costs["others"])
    return section(
        "The tools of one request",
        table(
            [
                "visible tools",
                "first message, ms",
                "a later one, ms",
                f"of {CALLERS:,} callers, ms",
            ],
            rows,
        ),
        goal("the slowest, but for first messages", worst, GOAL_MS, unit=" ms"),
    )


def _case(registry: Any, kept: Any, question: str, *, callers: int = 1) -> Any:
    from pegboard.core.principal import Principal

    principals = cycle([Principal(id=f"caller{number}") for number in range(callers)])

    async def assemble() -> None:
        selector = _selector(registry, kept, next(principals))
        toolset = selector.assemble(selector.select(question))
        if len(toolset.model_tools) < 8:
            raise AssertionError(f"too few tools: {toolset.model_tools}")

    return assemble


def _shown(registry: Any) -> Any:
    from pegboard.core.principal import LOCAL

    return _selector(registry, None, LOCAL).select(QUESTION)


def _selector(registry: Any, kept: Any, principal: Any) -> Any:
    from pegboard.assembly import SelectionLimits, ToolRequest, ToolSelector, resolve_tools

    return ToolSelector(
        resolve_tools(
            registry, ToolRequest(principal=principal, delegates={"writer": "Writes letters."})
        ),
        principal=principal,
        limits=SelectionLimits(always_listed=("slack__*_message",)),
        kept=kept,
        goes_on=True,
    )


def _registry(count: int) -> Any:
    from pegboard import SchemaTool, ToolRegistry, ToolSpec
    from pegboard.core.tool import Effect

    async def run(_arguments: object, _ctx: object) -> None:
        return None

    return ToolRegistry(
        SchemaTool(
            spec=ToolSpec(
                name=name,
                description=text,
                input_schema={"type": "object"},
                source=(source := name.partition("__")[0]),
                action=name.partition("__")[2],
                handler=KINDS[len(source) % len(KINDS)],
                effect=Effect.READ,
            ),
            run=run,
        )
        for name, text in islice(catalogue(), count)
    )
