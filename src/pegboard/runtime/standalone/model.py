"""`Model`: a language model for programs, and one exchange with any model."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from pegboard.core.context import ToolContext
from pegboard.core.model_messages import Message
from pegboard.core.ports.chat_model import ChatModel
from pegboard.registry.sync_bridge import LOOP_THREAD
from pegboard.runtime.standalone.named_model import NamedModel

if TYPE_CHECKING:
    from pegboard.runtime.agent_result import AgentResult


class ModelChat:
    """Gives a `ChatModel` the methods `chat` and `chat_sync`."""

    async def chat(
        self,
        text: str,
        *,
        tools: Any = None,
        instructions: str = "",
        messages: Iterable[Message | Mapping[str, Any]] | None = None,
        ctx: ToolContext[Any] | None = None,
    ) -> "AgentResult":
        """One exchange: a message, the calls that it needs, and the answer.

        Args:
            text: The message.
            tools: As for an `Agent`; None sends none.
            instructions: The system prompt; empty for none.
            messages: The conversation so far, as `AgentResult.messages`.
            ctx: The caller, the dependencies of tools, and the deadline.
        """
        from pegboard.runtime.standalone.agent import Agent

        model = cast("ChatModel", self)
        agent = Agent(model, tools=() if tools is None else tools, instructions=instructions)
        return await agent.run(text, messages=messages, ctx=ctx)

    def chat_sync(
        self,
        text: str,
        *,
        tools: Any = None,
        instructions: str = "",
        messages: Iterable[Message | Mapping[str, Any]] | None = None,
        ctx: ToolContext[Any] | None = None,
    ) -> "AgentResult":
        """`chat` from code without an event loop, or from a notebook."""
        return LOOP_THREAD.run(
            self.chat(text, tools=tools, instructions=instructions, messages=messages, ctx=ctx)
        )


class Model(NamedModel, ModelChat):
    """A language model by its name; it is a `ChatModel`, for agents and boards too.

    ```python
    model = Model("openai:gpt-5.2")
    result = await model.chat("What was the total of order 7?", tools=[find_order])
    print(result.unwrap())
    ```

    Keys and addresses are those of the environment (`OPENAI_API_KEY`, `OPENAI_BASE_URL`, ...).

    Args:
        name: `provider:name`; empty for the model of the settings.
    """
