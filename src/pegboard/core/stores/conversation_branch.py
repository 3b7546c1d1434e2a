"""Which message of a conversation can be replaced by another one."""

from collections.abc import Callable

from pegboard.core.ports.conversation_store import Conversation, Exchange
from pegboard.errors import ConversationNotFound, InvalidRequest

_NOT_ANSWERED = frozenset({"withdrawn", "steered"})


def find_predecessor(
    id: str,  # noqa: A002 - it is known by its id
    conversation: Conversation,
    *,
    find: Callable[[str], Exchange | None],
    is_busy: bool,
) -> Exchange:
    """The exchange that a message replaces: the last one that was answered on the branch.

    Args:
        id: The exchange to replace.
        conversation: The conversation of the message.
        find: An exchange by its id.
        is_busy: Whether an exchange of the conversation is working or queued.

    Raises:
        ConversationNotFound: The conversation has no such exchange.
        InvalidRequest: It is not the last one, or the conversation is busy.
    """
    known = find(id)
    if known is None or known.conversation != conversation.id:
        raise ConversationNotFound(f"There is no conversation or message '{id[:100]}'.")
    if is_busy:
        raise InvalidRequest("Stop the answer in progress before you change a message.")
    last = find(conversation.head)
    while last is not None and last.state in _NOT_ANSWERED:
        last = find(last.parent)
    if last is None or last.id != known.id:
        raise InvalidRequest("Only the last message of a conversation can be changed.")
    return known
