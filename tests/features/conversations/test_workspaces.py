"""Files of conversations on a board without workspaces."""

import pytest

from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.principal import LOCAL
from pegboard.errors import ConversationNotFound
from pegboard.features.conversations.workspaces import Workspaces
from pegboard.storage.memory.storage import MemoryStorage


async def test_without_workspaces_a_conversation_has_no_files() -> None:
    store = MemoryStorage().conversations
    await store.create(Conversation(id="c", principal=LOCAL.id, tenant=LOCAL.tenant))
    workspaces = Workspaces(store, None)
    found = await workspaces.list("c", principal=LOCAL)
    with pytest.raises(ConversationNotFound):
        await workspaces.open("c", "a.txt", principal=LOCAL)

    assert (found.files, found.has_more) == ((), False)
