"""Stored results, in every storage."""

from pathlib import Path

import pytest
from tests.storage.made import NOON, a_result, a_storage

from pegboard.errors import Unavailable
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


async def test_the_oldest_results_of_an_owner_make_room_for_a_new_one(
    kind: str, tmp_path: Path, clock: FakeClock
) -> None:
    async with a_storage(kind, tmp_path, clock, result_quota=1_000_000) as storage:
        others = a_result("others", owner="acme/bob", body=b"x" * 900_000)
        await storage.results.put(others)
        for number in range(4):
            body = b"x" * 400_000
            await storage.results.put(a_result(f"r{number}", body=body, created_at=NOON + number))

        stored = {f"r{number}": "acme/ada" for number in range(4)} | {"others": "acme/bob"}
        kept = [name for name in stored if await storage.results.get(name, stored[name])]

    expected = {"memory": ["r2", "r3"]}.get(kind, ["r2", "r3", "others"])
    assert kept == expected


async def test_a_result_beyond_the_quota_is_refused(
    kind: str, tmp_path: Path, clock: FakeClock
) -> None:
    async with a_storage(kind, tmp_path, clock, result_quota=1_000) as storage:
        await storage.results.put(a_result("small", body=b"x" * 400))
        with pytest.raises(Unavailable):
            await storage.results.put(a_result("large", body=b"x" * 2_000))

        assert await storage.results.get("small", "acme/ada") is not None


async def test_space_of_deleted_results_comes_back(tmp_path: Path, clock: FakeClock) -> None:
    async with a_storage("sqlite", tmp_path, clock) as storage:
        for number in range(8):
            body = bytes(1_000_000)
            await storage.results.put(a_result(f"r{number}", body=body, expires_at=NOON + 10))
    full = (tmp_path / "pegboard.db").stat().st_size

    async with a_storage("sqlite", tmp_path, clock) as storage:
        clock.advance(11)
        await storage.sweep()

    assert full > 8_000_000
    assert (tmp_path / "pegboard.db").stat().st_size < 1_000_000
