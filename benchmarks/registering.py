"""What registering many tools costs: a piece of the work at a time, in turns with the others."""

from collections.abc import Callable
from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from measure import cpu_s
from pegboard import ToolRegistry, tool
from table import goal, number, section, table

MANY = 10_000
TURNS = 20
EACH = 500
PEERS_EACH = 50
LAZY = "Pegboard, decorated and registered"
BUILT = "Pegboard, and every schema read"
BARE = "bare pydantic: `TypeAdapter` of a `TypedDict`, and its schema"

Functions = list[Callable[..., Any]]
Register = Callable[[Functions], object]


def functions(count: int, *, first: int = 0) -> Functions:
    """Functions with names, types and docstrings of their own."""
    return [_function(index) for index in range(first, first + count)]


def bare_pydantic() -> Register:
    """What the schemas themselves cost: the same fields with the same descriptions."""
    kept: list[TypeAdapter[Any]] = []

    def register(made: Functions) -> None:
        for function in made:
            fields: Any = {
                "word": Annotated[str, Field(description="What to shorten.")],
                "limit": Annotated[int, Field(description="Characters that are left.")],
                "strict": NotRequired[
                    Annotated[bool, Field(description="Whether to do it at all.")]
                ],
            }
            kept.append(TypeAdapter(TypedDict(function.__name__, fields)))
            kept[-1].json_schema()

    return register


def ours_lazily() -> Register:
    """Decorate and register."""
    registry = ToolRegistry()

    def register(made: Functions) -> None:
        for function in made:
            registry.add(tool(effect="read")(function))

    return register


def ours_built() -> Register:
    """The same, and build the schema of each, as listing all of them does."""
    registry = ToolRegistry()

    def register(made: Functions) -> None:
        for item in [registry.add(tool(effect="read")(function)) for function in made]:
            _ = item.spec.input_schema

    return register


def aimu() -> Register:
    """AIMU's decorator."""
    from aimu import tool as aimu_tool

    return lambda made: [aimu_tool(function) for function in made]


def pydantic_ai() -> Register:
    """Pydantic AI's toolset of functions."""
    from pydantic_ai import FunctionToolset

    toolset = FunctionToolset()
    return lambda made: [toolset.add_function(function) for function in made]


def langchain() -> Register:
    """LangChain's decorator."""
    from langchain_core.tools import tool as langchain_tool

    return lambda made: [langchain_tool(function) for function in made]


def fastmcp() -> Register:
    """FastMCP's server."""
    from fastmcp import FastMCP

    server = FastMCP("bench")
    return lambda made: [server.tool(function) for function in made]


OURS: dict[str, Callable[[], Register]] = {
    BARE: bare_pydantic,
    LAZY: ours_lazily,
    BUILT: ours_built,
}
PEERS: dict[str, Callable[[], Register]] = {
    "AIMU (1,000, times ten)": aimu,
    "Pydantic AI (1,000, times ten)": pydantic_ai,
    "LangChain (1,000, times ten)": langchain,
    "FastMCP (1,000, times ten)": fastmcp,
}


def cost_of_registering() -> str:
    """The table; each figure is that of the least turn, times as many as 10,000 tools take."""
    least = _least(OURS, EACH) | _least(PEERS, PEERS_EACH)
    return section(
        "Registering 10,000 tools",
        table(["", "CPU, s"], [[name, number(seconds)] for name, seconds in least.items()]),
        "\n".join(
            [
                goal("registering, which builds no schema", least[LAZY], 1, unit=" s"),
                goal("beyond pydantic's own schemas", least[BUILT] - least[BARE], 1, unit=" s"),
            ]
        ),
    )


def _least(ways: dict[str, Callable[[], Register]], each: int) -> dict[str, float]:
    """Seconds for all, by the least of the turns; ours are not between those of peers, who would
    have filled the processor's caches with other code."""
    registers = {name: make() for name, make in ways.items()}
    least = dict.fromkeys(ways, float("inf"))
    for turn in range(TURNS):
        for name, register in registers.items():
            made = functions(each, first=turn * each)
            seconds = cpu_s(lambda register=register, made=made: register(made))
            least[name] = min(least[name], seconds * MANY / each)
    return least


def _function(index: int) -> Callable[..., Any]:
    def function(word: str, limit: int, strict: bool = False) -> str:
        return word[:limit] if strict else word

    function.__name__ = function.__qualname__ = f"tool_{index}"
    function.__doc__ = f"""Shorten a word in way {index}.

    Args:
        word: What to shorten.
        limit: Characters that are left.
        strict: Whether to do it at all.
    """
    return function
