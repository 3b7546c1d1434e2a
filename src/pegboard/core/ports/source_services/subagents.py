"""The port by which an agent that is a tool is run: sources know no engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pegboard.core.context import ToolContext
from pegboard.core.tool import JsonSchema, Tool

Memory = Literal["none", "conversation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentTask:
    """What an agent is called for.

    Attributes:
        agent: The name of its tool.
        message: What it has to do.
        instructions: The system prompt.
        model: `provider:name`, or a name of the board file; empty for the board's own.
        tools: Names of the tools that it may call.
        turns: Turns of its model, at most.
        output_schema: JSON Schema of an object that the answer fits; None for text.
        conversation: What it remembers its earlier answers for; empty for no memory.
    """

    agent: str
    message: str
    instructions: str
    model: str = ""
    tools: tuple[str, ...] = ()
    turns: int = 10
    output_schema: JsonSchema | None = None
    conversation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentAnswer:
    """What an agent has answered.

    Attributes:
        value: The object that fits the schema; None without one.
        failure: Why there is no answer; empty when there is one.
        tokens: Input and output of its model.
        cached_tokens: Of these, the ones that the provider read from its cache.
        cost: US dollars; None where it is not known.
    """

    text: str
    value: Mapping[str, Any] | None = None
    failure: str = ""
    model: str = ""
    tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None


class WatchedTool(Tool, Protocol):
    """A tool whose spec says whether the tools that it needs are there."""

    def refresh(self) -> bool:
        """Look again; whether the spec has changed."""
        ...


class SubagentRunner(Protocol):
    """Runs agents that are tools, with the tools of the board."""

    def watch(self, tool: WatchedTool) -> None:
        """Refresh a tool whenever the tools of the board change, for as long as it exists."""
        ...

    def find_unknown(self, tools: Sequence[str]) -> str:
        """Why tools of an agent's list cannot be its tools, by name; empty when all can."""
        ...

    async def run(self, task: SubagentTask, ctx: ToolContext[Any]) -> SubagentAnswer:
        """Let an agent work, with the run, the deadline and the dependencies of its caller.

        Raises:
            ApprovalRequired: A call of the agent needs an approval first.
            PegboardError: As the run of the agent ended.
        """
        ...
