"""What lives for a time of sign-in is swept in every storage."""

from msgspec import structs
from tests.storage.test_identity import A_CODE

from pegboard.storage import Storage
from pegboard.storage.memory.sign_ins import MemorySignIns
from pegboard.storage.sql.accounts.sign_ins import SqlSignIns
from pegboard.testing import FakeClock


async def test_a_sweep_forgets_expired_records_and_attempts(
    storage: Storage, clock: FakeClock
) -> None:
    store, now = storage.identity, clock.time()
    assert isinstance(store, MemorySignIns | SqlSignIns)
    await store.put_record(structs.replace(A_CODE, id="old", expires_at=now - 1))
    await store.put_record(structs.replace(A_CODE, id="new", expires_at=now + 1))
    await store.count_attempt({"ada": 1}, at=now - 10, window=9)
    await store.count_attempt({"bob": 1}, at=now - 10, window=11)

    await storage.sweep()

    assert await store.record("code", "old", at=now - 5) is None
    assert await store.record("code", "new", at=now) is not None
    assert await store.count_attempt({"ada": 1}, at=now - 5, window=9) == 0
    assert await store.count_attempt({"bob": 1}, at=now, window=9) == 1
