"""Conversations of known sizes, and views of them."""

from collections.abc import Sequence

from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pegboard.engines.context.token_estimate import TokenEstimate, measure_message
from pegboard.engines.context.view import ContextState, ContextView


class Shelf:
    """Stores texts under handles, and knows them."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    async def store(self, text: str) -> str:
        handle = f"pegboard://results/{len(self.texts):024x}-p32000"
        self.texts[handle] = text
        return handle


def a_turn(number: int, *sizes: int) -> list[Message]:
    """A turn with calls whose results have these sizes."""
    calls = tuple(ToolCall(id=f"c{number}-{n}", name="read") for n in range(len(sizes)))
    results = [
        ToolMessage(call_id=call.id, name="read", text=f"{number}" * size)
        for call, size in zip(calls, sizes, strict=True)
    ]
    return [AssistantMessage(text=f"turn {number}", calls=calls), *results]


def a_conversation(*turns: Sequence[int], history: int = 0) -> tuple[list[Message], int]:
    """A conversation, and the index of its question, with so much history before it."""
    messages: list[Message] = [SystemMessage(text="Be brief.")]
    for number in range(history):
        messages += [UserMessage(text=f"question {number}"), *a_turn(number, 2_000)]
        messages.append(AssistantMessage(text=f"answer {number}"))
    question = len(messages)
    messages.append(UserMessage(text="What now?"))
    for number, sizes in enumerate(turns):
        messages += a_turn(number, *sizes)
    return messages, question


def a_view(
    messages: Sequence[Message], question: int = 1, state: ContextState | None = None
) -> ContextView:
    """A view of a conversation, whole unless a state is given."""
    return ContextView(
        messages,
        state or ContextState(),
        sizes=[measure_message(message) for message in messages],
        question=question,
        estimate=TokenEstimate(),
    )


def orphans(messages: Sequence[Message]) -> list[str]:
    """Ids of calls without a result behind them, and of results without their call."""
    open_calls: list[str] = []
    found: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            (open_calls if message.call_id in open_calls else found).append(message.call_id)
            if open_calls.count(message.call_id) == 2:
                open_calls = [call for call in open_calls if call != message.call_id]
            continue
        found += open_calls
        open_calls = (
            [call.id for call in message.calls] if isinstance(message, AssistantMessage) else []
        )
    return found + open_calls
