"""Which message of a conversation can be replaced."""

import pytest

from pegboard.core.ports.conversation_store import Conversation, Exchange, ExchangeState
from pegboard.core.stores.conversation_branch import find_predecessor
from pegboard.errors import ConversationNotFound, InvalidRequest


def an_exchange(
    id: str, parent: str = "", *, state: ExchangeState = "completed", of: str = "c"
) -> Exchange:
    return Exchange(
        id=id, conversation=of, text=id, run_id=f"r_{id}", created_at=0, parent=parent, state=state
    )


KNOWN = {
    item.id: item
    for item in (
        an_exchange("m1"),
        an_exchange("m2", "m1"),
        an_exchange("m3", "m2", state="steered"),
        an_exchange("m4", "m3", state="withdrawn"),
        an_exchange("other", of="d"),
    )
}
CONVERSATION = Conversation(id="c", principal="ada", head="m4")


def test_what_was_withdrawn_or_taken_up_is_not_the_last_message() -> None:
    found = find_predecessor("m2", CONVERSATION, find=KNOWN.get, is_busy=False)

    assert found == KNOWN["m2"]


@pytest.mark.parametrize(
    ("id", "is_busy", "error"),
    [
        ("m1", False, InvalidRequest),
        ("m4", False, InvalidRequest),
        ("m2", True, InvalidRequest),
        ("none", False, ConversationNotFound),
        ("other", False, ConversationNotFound),
    ],
    ids=["an earlier one", "withdrawn", "busy", "no message", "of another conversation"],
)
def test_every_other_message_is_refused(id: str, is_busy: bool, error: type[Exception]) -> None:
    with pytest.raises(error):
        find_predecessor(id, CONVERSATION, find=KNOWN.get, is_busy=is_busy)
