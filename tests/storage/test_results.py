"""Stored results, in every storage."""

from tests.storage.made import NOON, a_result

from pegboard.storage import Storage
from pegboard.testing import FakeClock


async def test_a_stored_result_comes_back_to_its_owner_alone(storage: Storage) -> None:
    result = a_result(body=bytes(range(256)), media_type="image/png")
    await storage.results.put(result)

    assert await storage.results.get(result.handle, "acme/ada") == result
    assert await storage.results.get(result.handle, "acme/bob") is None
    assert await storage.results.get("pegboard://results/other", "acme/ada") is None


async def test_a_result_put_again_replaces_the_first(storage: Storage) -> None:
    await storage.results.put(a_result(body=b"first"))
    await storage.results.put(a_result(body=b"second"))

    kept = await storage.results.get("pegboard://results/r1", "acme/ada")
    assert kept is not None
    assert kept.body == b"second"


async def test_an_expired_result_is_gone_before_and_after_the_sweep(
    storage: Storage, clock: FakeClock
) -> None:
    await storage.results.put(a_result("short", expires_at=NOON + 10))
    await storage.results.put(a_result("long", expires_at=NOON + 100))

    clock.advance(10)
    before = await storage.results.get("short", "acme/ada")
    await storage.sweep()
    clock.jump(-10)
    after = await storage.results.get("short", "acme/ada")

    assert before is None
    assert after is None
    assert await storage.results.get("long", "acme/ada") is not None
