"""What it costs to put together the tools of one request, and what others have to do with it."""

from itertools import cycle, islice
from typing import Any

from measure import cpu_us
from registering import functions
from searching import catalogue
from table import goal, number, section, table

COUNTS = (10, 1_000, 10_000)
COUNTS_OF_PEERS = (10, 1_000)
CALLERS = 1_000
OF_EACH = 10
SHARED = 100
KINDS = ("openapi", "sql", "mcp")
QUESTION = "Create an invoice in stripe, then send a message to the customer in slack."
LATER = "Which tickets are open in zendesk?"
GOAL_MS = 1.0


async def cost_of_assembling() -> str:
    """All steps for a question: for a first message, a later one, and one of another caller.

    Also of a first message whose tools a model re-orders, without what the model takes.
    """
    rows: list[list[str]] = []
    worst = 0.0
    for count in COUNTS:
        registry = _registry(count)
        cases = {
            "first": _case(registry, None, QUESTION),
            "later": _case(registry, _shown(registry), LATER),
            "others": _case(registry, _shown(registry), LATER, callers=CALLERS),
            "ranked": _case(registry, None, QUESTION, is_ranked=True),
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
                "a first one in the order of a model, ms",
            ],
            rows,
        ),
        goal("the slowest, but for first messages", worst, GOAL_MS, unit=" ms"),
    )


async def cost_beside_peers() -> str:
    """What a later message costs, and what the peers take to list the same number of tools."""
    rows: list[list[str]] = []
    for count in COUNTS_OF_PEERS:
        registry = _registry(count)
        cases = {
            "ours": _case(registry, _shown(registry), LATER),
            "pydantic-ai": _pydantic_ai(count),
            "fastmcp": _fastmcp(count),
        }
        costs = (await cpu_us(cases, rounds=5)).values()
        rows.append([f"{count:,}", *(number(us / 1_000) for us in costs)])
    return section(
        "The tools of one request, beside peers",
        "They list all tools for each request, and leave the choice to the model.",
        table(
            [
                "tools",
                "Pegboard, a later message, ms",
                "Pydantic AI `get_tools`, ms",
                "FastMCP `list_tools`, ms",
            ],
            rows,
        ),
    )


def _pydantic_ai(count: int) -> Any:
    from pydantic_ai import FunctionToolset, RunContext
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RunUsage

    context: Any = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    toolset: Any = FunctionToolset(functions(count))

    async def list_tools() -> None:
        if len(await toolset.get_tools(context)) != count:
            raise AssertionError("another number of tools")

    return list_tools


def _fastmcp(count: int) -> Any:
    from fastmcp import FastMCP

    server: Any = FastMCP("many")
    for function in functions(count):
        server.tool(function)

    async def list_tools() -> None:
        if len(await server.list_tools()) != count:
            raise AssertionError("another number of tools")

    return list_tools


async def cost_of_others() -> str:
    """The same for one of many people who each have tools of their own, and after a change."""
    rows: list[list[str]] = []
    costs: dict[str, dict[str, float]] = {}
    for people in (1, CALLERS):
        registry, index, resources = _of_people(people)
        principal = _person(0)
        cases = {
            "assemble": _case(registry, _shown(registry, principal), LATER, caller=principal),
            "search": _searching(registry, principal),
            "list": _listing(registry, principal),
            "changed": _changing(registry, index, resources, principal),
        }
        found = {name: us / 1_000 for name, us in (await cpu_us(cases, rounds=7)).items()}
        costs[str(people)] = found
        rows.append([f"{people:,}", f"{len(registry):,}", *map(number, found.values())])
    worst = costs[str(CALLERS)]["assemble"]
    return section(
        "What the tools of others cost",
        f"Each has an account and {OF_EACH} tools of a connector of their own; {SHARED} are of "
        "the board file. The last column is a change of another person's connector, with the "
        "next request of somebody else.",
        table(
            [
                "people",
                "tools",
                "a later message, ms",
                "a search, ms",
                "a list, ms",
                "a change, ms",
            ],
            rows,
        ),
        goal("a later message beside the tools of others", worst, GOAL_MS, unit=" ms"),
    )


def _of_people(people: int) -> tuple[Any, Any, list[Any]]:
    """A registry with tools that all see and tools of each person, and who sees what."""
    from pegboard import ToolRegistry
    from pegboard.core.ports.accounts.resource_store import StoredResource

    texts = list(catalogue())
    tools = [_tool(name, text, "") for name, text in texts[:SHARED]]
    resources: list[Any] = []
    for at in range(people):
        of_person = islice(cycle(texts), at * OF_EACH, (at + 1) * OF_EACH)
        made = [_tool(f"shop__{name}", text, f"p{at}--") for name, text in of_person]
        tools += made
        resources.append(
            StoredResource(
                id=str(at),
                kind="connector",
                name=f"p{at}--shop",
                owner=f"p{at}",
                created_at=0.0,
                updated_at=0.0,
            )
        )
    registry = ToolRegistry(tools)
    index = registry.environment.resource_index
    index.use(resources, ())
    return registry, index, resources


def _person(at: int) -> Any:
    from pegboard.core.principal import Principal

    return Principal(id=f"p{at}", user=f"p{at}", roles=frozenset({"acme/member"}))


def _searching(registry: Any, principal: Any) -> Any:
    async def search() -> None:
        if not registry.search(QUESTION, principal=principal):
            raise AssertionError("nothing found")

    return search


def _listing(registry: Any, principal: Any) -> Any:
    async def list_tools() -> None:
        if len(registry.visible(principal)) != SHARED + OF_EACH:
            raise AssertionError("another number of tools")

    return list_tools


def _changing(registry: Any, index: Any, resources: list[Any], principal: Any) -> Any:
    """Another person's connector changes, and then this one asks."""
    assemble = _case(registry, _shown(registry, principal), LATER, caller=principal)
    name, text = next(iter(catalogue()))
    source = f"p{len(resources) - 1}--"
    turn = cycle("ab")

    async def change() -> None:
        index.use(resources, ())
        registry.add(_tool(f"shop__{name}", text + next(turn), source), replace=True)
        await assemble()

    return change


def _case(
    registry: Any,
    kept: Any,
    question: str,
    *,
    callers: int = 1,
    caller: Any = None,
    is_ranked: bool = False,
) -> Any:
    from pegboard.core.principal import Principal

    made = [Principal(id=f"caller{number}") for number in range(callers)]
    principals = cycle([caller] if caller else made)

    async def assemble() -> None:
        selector = _selector(registry, kept, next(principals))
        found = selector.find_candidates(question) if is_ranked else []
        order = [tool.spec.name for tool in reversed(found)]
        toolset = selector.assemble(selector.select(question, order))
        if len(toolset.model_tools) < 8:
            raise AssertionError(f"too few tools: {toolset.model_tools}")

    return assemble


def _shown(registry: Any, principal: Any = None) -> Any:
    from pegboard.core.principal import LOCAL

    return _selector(registry, None, principal or LOCAL).select(QUESTION)


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
    from pegboard import ToolRegistry

    return ToolRegistry(_tool(name, text, "") for name, text in islice(catalogue(), count))


def _tool(name: str, text: str, owner: str) -> Any:
    """A tool of a system, or of a connector of its owner."""
    from pegboard import SchemaTool, ToolSpec
    from pegboard.core.tool import Effect

    async def run(_arguments: object, _ctx: object) -> None:
        return None

    source, _, action = f"{owner}{name}".partition("__")
    return SchemaTool(
        spec=ToolSpec(
            name=f"{source}__{action}",
            description=text,
            input_schema={"type": "object"},
            source=source,
            action=action,
            handler=KINDS[len(source) % len(KINDS)],
            effect=Effect.READ,
        ),
        run=run,
    )
