"""What came before a message: the branch of exchanges that leads to it, as messages for a model."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    read_message,
)
from pegboard.core.ports.conversation_store import ConversationStore, Exchange
from pegboard.engines.dag.planner import RESULTS
from pegboard.features.conversations.message_files import describe_message

_ANSWERED = frozenset({"completed", "failed", "cancelled"})
_DONE = (
    "(The person has the message above answered again, or has replaced it by the next one. What "
    "its calls have done stays done: use their results, and make none of these calls a second "
    "time for the same purpose.)"
)
"""What a model is told behind the attempt that a message replaces."""


def find_branch(exchanges: Iterable[Exchange], last: str) -> list[Exchange]:
    """The exchanges that lead to one, that one included, the first one first."""
    known: Mapping[str, Exchange] = {item.id: item for item in exchanges}
    branch: list[Exchange] = []
    while last in known and len(branch) < len(known):
        branch.append(known[last])
        last = known[last].parent
    return branch[::-1]


class ConversationHistory(Struct, frozen=True, kw_only=True):
    """What came before a message.

    Attributes:
        messages: For the model.
        run_id: The run of the last answer among them; empty for none.
        replaced_calls: The calls of the answers to this message that it replaces, as far as they
            have or may have taken effect.
    """

    messages: tuple[Message, ...] = ()
    run_id: str = ""
    replaced_calls: tuple[ToolCall, ...] = ()


async def read_history(
    store: ConversationStore, conversation: str, exchange: str
) -> ConversationHistory:
    """The messages before an exchange, on its own branch.

    What was withdrawn, or taken up by another answer, is left out. Of an answer that was replaced,
    as by trying a failed one again, the calls with their results and what steered it are kept.

    Args:
        store: Stores conversations.
        conversation: The conversation.
        exchange: The exchange that is to be answered.
    """
    exchanges = await store.exchanges(conversation)
    messages: list[Message] = []
    replaced_calls: list[ToolCall] = []
    run_id = ""
    siblings: dict[str, list[Exchange]] = {}  # only exchanges with one parent replace each other
    for item in exchanges:
        siblings.setdefault(item.parent, []).append(item)
    for item in find_branch(exchanges, exchange):
        for replaced in _list_predecessors(siblings[item.parent], item):
            if attempt := _read_attempt(replaced):
                run_id = replaced.run_id
                messages += attempt
                if item.id == exchange:
                    replaced_calls += _list_done(attempt)
        if item.id != exchange and item.state in _ANSWERED:
            run_id = item.run_id
            messages.append(UserMessage(text=describe_message(item)))
            messages += map(read_message, item.messages)
    return ConversationHistory(
        messages=tuple(messages), run_id=run_id, replaced_calls=tuple(replaced_calls)
    )


def _list_done(messages: Iterable[Message]) -> list[ToolCall]:
    """The calls among messages that have or may have taken effect."""
    calls: dict[str, ToolCall] = {}
    done: list[ToolCall] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls.update((call.id, call) for call in message.calls)
        elif isinstance(message, ToolMessage) and message.call_id in calls:
            call, has_failed = calls[message.call_id], message.is_error and not message.is_unknown
            done += [] if has_failed else [call]
    return done


def _list_predecessors(siblings: Iterable[Exchange], item: Exchange) -> list[Exchange]:
    """The exchanges that one replaces, of those with the same parent; the first one first."""
    return [other for other in siblings if other.number < item.number and other.state in _ANSWERED]


def _read_attempt(replaced: Exchange) -> list[Message]:
    """What was done for a message before it was replaced; nothing where only text was written."""
    messages = [read_message(item) for item in replaced.messages]
    while messages and _is_text(messages[-1]):
        messages.pop()
    if not any(map(_is_kept, messages)):
        return []
    question = UserMessage(text=describe_message(replaced))
    return [question, *messages, UserMessage(text=_DONE, is_note=True)]


def _is_text(message: Message) -> bool:
    """Whether it is an answer without calls."""
    return isinstance(message, AssistantMessage) and not message.calls


def _is_kept(message: Message) -> bool:
    """Whether it says what was done, or what a person has sent meanwhile."""
    if isinstance(message, UserMessage):
        return not message.is_note or message.text.startswith(RESULTS)
    return isinstance(message, ToolMessage)
