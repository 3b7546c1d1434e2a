"""What one turn of an agent costs beside its model and its tool: ours and the peers, by tools.

The model is a stand-in at the place where each framework has its model clients, so that neither
requests nor their formats count. It asks for one call of `find_letter` a turn, with other arguments
each time, and then answers. A turn costs the difference between a run of many turns and one of few,
divided by the turns between: what a run costs once is not in it, and stands in a table of its own.
"""

import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from measure import cpu_and_wall_us
from table import goal, number, section, table

SIZES = (3, 100, 1_000)
EFFORT = {3: (8, 8), 100: (6, 8), 1_000: (5, 10)}
"""Rounds, and runs in each, by the number of tools."""
FLAT_EFFORT = (20, 5)
"""The same for our own, with all numbers of tools in each round: a difference is one of tools, not
of what else the machine did meanwhile."""
FEW_ROUNDS = (3, 1)
"""The same for what takes long: a turn of it is far above what disturbs it."""
LONG_MS = 20
FEW, MANY = 2, 22
ANSWER = "It is there."
GOAL_US = 300
FLAT = 1.25

Run = Callable[[int], Awaitable[str]]
"""Runs an agent that makes so many calls and then answers; the answer."""


class Script:
    """What the model says: so many calls, then the answer.

    Attributes:
        calls: How many calls it has asked for since it was started.
        made: How many of them reached the function.
    """

    def __init__(self) -> None:
        self.calls = self.made = 0
        self._left = 0

    def start(self, turns: int) -> None:
        """Begin a run with so many calls."""
        self.calls, self.made, self._left = 0, 0, turns

    def next_call(self) -> tuple[str, str] | None:
        """The id and the arguments of the next call; None for the answer."""
        if not self._left:
            return None
        self._left -= 1
        self.calls += 1
        return f"call_{self.calls}", f'{{"word": "{"b" * self.calls}r", "letter": "r"}}'


async def cost_of_a_turn() -> str:
    """The table of turns with its goals, and that of whole runs."""
    costs: dict[int, dict[str, tuple[float, float]]] = {}
    for size in SIZES:
        runs = {name: make(size) for name, make in ROWS.items()}
        costs[size] = await _measure(runs, FEW_ROUNDS)
        short = {name: run for name, run in runs.items() if costs[size][name][1] < LONG_MS * 1e3}
        costs[size] |= await _measure(short, EFFORT[size])
    flat = await _measure({str(size): ours(size) for size in SIZES}, FLAT_EFFORT)
    head = [f"{size:,} tools" for size in SIZES]
    turns = [[name, *[number(costs[size][name][0] / 1e3) for size in SIZES]] for name in ROWS]
    whole = [[name, *[number(costs[size][name][1] / 1e3) for size in SIZES]] for name in ROWS]
    return section(
        "One turn of an agent",
        table(["CPU per turn with one call, ms", *head], turns),
        "\n".join(_goals(costs, flat)),
        f"A whole run of {FEW} calls and an answer, with the same model:",
        table(["CPU per run, ms", *head], whole),
    )


async def _measure(
    runs: Mapping[str, Run], effort: tuple[int, int]
) -> dict[str, tuple[float, float]]:
    """Microseconds of a turn, and of a run with few turns."""
    cases: dict[str, Callable[[], Awaitable[object]]] = {}
    for name, run in runs.items():
        for turns in (FEW, MANY):
            if await run(turns) != ANSWER:
                raise AssertionError(f"{name} did not answer")
            cases[f"{name} {turns}"] = lambda run=run, turns=turns: run(turns)
    gc.collect()
    gc.freeze()  # the tools of all frameworks are not looked through in anybody's run
    found = await cpu_and_wall_us(cases, rounds=effort[0], runs=effort[1])
    gc.unfreeze()
    few, many = ({name: found[f"{name} {n}"][0] for name in runs} for n in (FEW, MANY))
    return {name: ((many[name] - few[name]) / (MANY - FEW), few[name]) for name in runs}


def _goals(
    costs: Mapping[int, Mapping[str, tuple[float, float]]], flat: Mapping[str, tuple[float, float]]
) -> list[str]:
    """The goals; `flat` has ours of all sizes, which took turns with one another."""
    few, many = (flat[str(size)][0] for size in (SIZES[0], SIZES[-1]))
    ours = {size: costs[size][OURS][0] for size in SIZES}
    against = [
        ours[size] / min(cost for name, (cost, _) in costs[size].items() if name != OURS)
        for size in SIZES
    ]
    return [
        goal("a turn at most", max(ours.values()) / 1e3, GOAL_US / 1e3, unit=" ms"),
        goal("1,000 tools against 3, in the same rounds", many / few, FLAT, unit="x"),
        goal("against the cheapest peer with as many tools", max(against), 1.0, unit="x"),
    ]


def _functions(size: int, script: Script) -> list[Any]:
    """As many functions, of which the first is called, and counts its calls."""

    async def find_letter(word: str, letter: str) -> int:
        """Find the first occurrence of a letter in a word.

        Args:
            word: Where to look.
            letter: What to look for; one character.
        """
        script.made += 1
        return word.find(letter)

    return [find_letter, *[_named(number) for number in range(size - 1)]]


def _named(number: int) -> Any:
    async def look(word: str, letter: str, limit: int = 10) -> int:
        """Look for a letter.

        Args:
            word: Where to look.
            letter: What to look for.
            limit: How far.
        """
        return word[:limit].find(letter)

    look.__name__ = look.__qualname__ = f"look_{number}"
    return look


def ours(size: int) -> Run:
    """Pegboard: `Agent.run`, with the pipeline of every call and recorded steps in memory."""
    from pegboard import Agent, tool
    from pegboard.core.model_messages import (
        AssistantMessage,
        ModelPart,
        ModelRequest,
        ModelResponse,
        ModelUsage,
        ToolCall,
    )

    script = Script()

    class Model:
        name = "bench:model"
        context_window = 200_000
        supports_tools = True
        supports_schema = True

        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
            call = script.next_call()
            if call is None:
                message = AssistantMessage(text=ANSWER)
            else:
                calls = (ToolCall(id=call[0], name="find_letter", arguments=call[1]),)
                message = AssistantMessage(calls=calls)
            tokens = 100 * len(request.messages)
            yield ModelResponse(message=message, usage=ModelUsage(requests=1, input_tokens=tokens))

    tools = [tool(effect="read")(function) for function in _functions(size, script)]
    agent = Agent(Model(), tools=tools)

    async def run(turns: int) -> str:
        script.start(turns)
        result = await agent.run("Where is it?")
        _check(script, turns)
        return result.output

    return run


def pydantic_ai(size: int) -> Run:
    """Pydantic AI: `Agent.run` with a `FunctionModel`."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    script = Script()

    async def answer(_messages: Any, _info: Any) -> ModelResponse:
        call = script.next_call()
        if call is None:
            return ModelResponse([TextPart(ANSWER)])
        return ModelResponse([ToolCallPart("find_letter", call[1], call[0])])

    agent = Agent(FunctionModel(answer), tools=_functions(size, script))

    async def run(turns: int) -> str:
        script.start(turns)
        result = await agent.run("Where is it?")
        _check(script, turns)
        return result.output

    return run


def langchain(size: int) -> Run:
    """LangChain: `create_agent` with a chat model that binds tools for nothing."""
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool
    from pydantic_core import from_json

    script = Script()

    class Model(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "bench"

        def bind_tools(self, _tools: Any, **_known: Any) -> Any:
            return self

        def _generate(self, *_args: Any, **_known: Any) -> ChatResult:
            call = script.next_call()
            if call is None:
                message = AIMessage(ANSWER)
            else:
                asked = {"name": "find_letter", "args": from_json(call[1]), "id": call[0]}
                message = AIMessage("", tool_calls=[asked])
            return ChatResult(generations=[ChatGeneration(message=message)])

        async def _agenerate(self, *args: Any, **known: Any) -> ChatResult:
            return self._generate(*args, **known)

    agent = create_agent(Model(), tools=[tool(function) for function in _functions(size, script)])

    async def run(turns: int) -> str:
        script.start(turns)
        asked = {"messages": [{"role": "user", "content": "Where is it?"}]}
        result = await agent.ainvoke(asked, {"recursion_limit": 100})
        _check(script, turns)
        return result["messages"][-1].content

    return run


def openai_agents(size: int) -> Run:
    """OpenAI Agents: `Runner.run` with a `Model` of its own, and tracing off."""
    from agents import (
        Agent,
        ModelResponse,
        Runner,
        Usage,
        function_tool,
        set_tracing_disabled,
    )
    from agents.models.interface import Model
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    set_tracing_disabled(True)
    script = Script()

    class OwnModel(Model):
        async def get_response(self, *_args: Any, **_known: Any) -> ModelResponse:
            call = script.next_call()
            item = _say() if call is None else _ask(*call)
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, *_args: Any, **_known: Any) -> Any:
            raise NotImplementedError

    def _ask(id_: str, arguments: str) -> ResponseFunctionToolCall:
        return ResponseFunctionToolCall(
            type="function_call", call_id=id_, name="find_letter", arguments=arguments
        )

    def _say() -> ResponseOutputMessage:
        text = ResponseOutputText(type="output_text", text=ANSWER, annotations=[])
        return ResponseOutputMessage(
            type="message", id="m", role="assistant", status="completed", content=[text]
        )

    tools = [function_tool(function) for function in _functions(size, script)]
    agent = Agent(name="bench", model=OwnModel(), tools=tools)

    async def run(turns: int) -> str:
        script.start(turns)
        result = await Runner.run(agent, "Where is it?", max_turns=100)
        _check(script, turns)
        return result.final_output

    return run


def agent_framework(size: int) -> Run:
    """Microsoft Agent Framework: `Agent.run` with a client that has its function invocation."""
    from agent_framework import (
        Agent,
        BaseChatClient,
        ChatResponse,
        Content,
        FunctionInvocationLayer,
        Message,
        tool,
    )

    script = Script()

    class Client(FunctionInvocationLayer, BaseChatClient):
        async def _respond(self) -> ChatResponse:
            call = script.next_call()
            if call is None:
                contents: list[Any] = [ANSWER]
            else:
                contents = [Content.from_function_call(call[0], "find_letter", arguments=call[1])]
            return ChatResponse(messages=[Message(role="assistant", contents=contents)])

        def _inner_get_response(self, **_known: Any) -> Any:
            return self._respond()

    client = Client(function_invocation_configuration={"max_iterations": 100})
    tools = [tool(function, approval_mode="never_require") for function in _functions(size, script)]
    agent = Agent(client, tools=tools)

    async def run(turns: int) -> str:
        script.start(turns)
        result = await agent.run("Where is it?")
        _check(script, turns)
        return result.text

    return run


def _check(script: Script, turns: int) -> None:
    """An agent that stops early is fast and worthless."""
    if (script.calls, script.made) != (turns, turns):
        raise AssertionError(f"{script.made} calls of {script.calls} instead of {turns}")


OURS = "Pegboard `Agent.run`"
ROWS: Mapping[str, Callable[[int], Run]] = {
    OURS: ours,
    "Pydantic AI `Agent.run`": pydantic_ai,
    "LangChain `create_agent`": langchain,
    "OpenAI Agents `Runner.run`": openai_agents,
    "Microsoft Agent Framework `Agent.run`": agent_framework,
}
