"""Since when a run or conversation has read untrusted text, in every storage."""

from msgspec import structs
from tests.storage.made import NOON
from tests.storage.test_conversations import a_conversation

from pegboard.core.ports.taint_store import Taint
from pegboard.storage import Storage

A_TAINT = Taint(call_id="c1", tool="mail__read", source="mail", at=NOON)


async def test_the_first_taint_stays(storage: Storage) -> None:
    later = structs.replace(A_TAINT, call_id="c2", at=NOON + 1)

    assert await storage.taints.find("r1") is None
    assert await storage.taints.add("r1", A_TAINT) == A_TAINT
    assert await storage.taints.add("r1", later) == A_TAINT
    assert await storage.taints.find("r1") == A_TAINT
    assert await storage.taints.find("r2") is None


async def test_a_taint_goes_when_its_conversation_is_gone_and_not_before(storage: Storage) -> None:
    conversation = a_conversation()
    await storage.conversations.create(conversation)
    await storage.taints.add(conversation.id, A_TAINT)

    assert await storage.taints.forget(before=NOON + 1) == 0
    assert await storage.taints.find(conversation.id) == A_TAINT

    await storage.conversations.delete(conversation.id)
    assert await storage.taints.forget(before=NOON) == 0
    assert await storage.taints.forget(before=NOON + 1) == 1
    assert await storage.taints.find(conversation.id) is None
