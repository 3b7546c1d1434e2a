"""What came before a message: the branch of exchanges that leads to it, as messages for a model."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from pegboard.core.model_messages import Message, UserMessage, read_message
from pegboard.core.ports.conversation_store import ConversationStore, Exchange
from pegboard.features.conversations.message_files import describe_message

_ANSWERED = frozenset({"completed", "failed", "cancelled"})


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
    """

    messages: tuple[Message, ...] = ()
    run_id: str = ""


async def read_history(
    store: ConversationStore, conversation: str, exchange: str
) -> ConversationHistory:
    """The messages before an exchange, on its own branch.

    What was withdrawn, or taken up by another answer, is left out.

    Args:
        store: Stores conversations.
        conversation: The conversation.
        exchange: The exchange that is to be answered.
    """
    branch = find_branch(await store.exchanges(conversation), exchange)
    messages: list[Message] = []
    run_id = ""
    for item in branch[:-1]:
        if item.state in _ANSWERED:
            run_id = item.run_id
            messages.append(UserMessage(text=describe_message(item)))
            messages += map(read_message, item.messages)
    return ConversationHistory(messages=tuple(messages), run_id=run_id)
