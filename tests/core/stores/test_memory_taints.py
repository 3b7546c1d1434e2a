"""Taints in memory; what every store does is in tests/storage."""

from pegboard.core.ports.taint_store import Taint
from pegboard.core.stores.memory_taints import MemoryTaints


async def test_a_taint_without_a_stored_run_is_forgotten_with_time() -> None:
    store = MemoryTaints(exists=lambda subject: subject == "r1")
    for subject in ("r1", "r2"):
        await store.add(subject, Taint(call_id="c", tool="t", at=1.0))

    assert await store.forget(before=2.0) == 1
    assert await store.find("r1") is not None
    assert await store.find("r2") is None
