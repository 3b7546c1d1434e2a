"""Credentials of callers, in every storage."""

import asyncio
from typing import Any

import pytest
from tests.storage.made import NOON

from pegboard.core.credential import Credential
from pegboard.core.ports.accounts.credential_store import SealedSecret, StoredCredential
from pegboard.errors import InvalidRequest
from pegboard.storage import Storage

SEALED = SealedSecret(key_id="k", data_key=b"\x00\xff key", value=b"\x01\xfe value")
NEWER = SealedSecret(key_id="k", data_key=b"\x00\xff key", value=b"another value")


def a_credential(id: str = "k1", **changes: Any) -> StoredCredential:
    fields: dict[str, Any] = {
        "owner": "ada",
        "source": "github",
        "name": "work",
        "kind": "oauth2",
        "created_at": NOON,
        "is_default": True,
    }
    return StoredCredential(about=Credential(id=id, **(fields | changes)), sealed=SEALED)


async def names(storage: Storage, source: str, owner: str) -> list[str]:
    found = await storage.credentials.find_usable(source, owner)
    return [item.about.id for item in found]


async def test_a_credential_is_found_by_its_id_on_every_server(
    storage: Storage, other: Storage
) -> None:
    await storage.credentials.add(a_credential())

    assert await other.credentials.credential("k1") == a_credential()
    assert await other.credentials.credential("k2") is None


async def test_a_caller_finds_its_own_credentials_and_shared_ones_of_that_source(
    storage: Storage,
) -> None:
    await storage.credentials.add(a_credential("own"))
    await storage.credentials.add(a_credential("shared", owner="bob", shared=True))
    await storage.credentials.add(a_credential("private", owner="bob", name="home"))
    await storage.credentials.add(a_credential("elsewhere", source="shop"))

    assert await names(storage, "github", "ada") == ["own", "shared"]
    assert await names(storage, "github", "eve") == ["shared"]
    everything = await storage.credentials.credentials(owner="ada")
    assert [item.about.id for item in everything] == ["own", "elsewhere"]


async def test_an_owner_has_one_credential_of_a_name_for_a_source(storage: Storage) -> None:
    await storage.credentials.add(a_credential())
    await storage.credentials.add(a_credential("k2", name="home"))

    with pytest.raises(InvalidRequest, match="'work' for 'github'"):
        await storage.credentials.add(a_credential("k3"))
    with pytest.raises(InvalidRequest, match="'work' for 'github'"):
        await storage.credentials.update("k2", {"name": "work"})
    await storage.credentials.add(a_credential("k4", owner="bob"))


async def test_a_new_default_takes_the_place_of_the_other_one(storage: Storage) -> None:
    await storage.credentials.add(a_credential())
    await storage.credentials.add(a_credential("k2", name="home"))
    await storage.credentials.add(a_credential("k3", owner="bob"))

    def defaults(found: Any) -> list[str]:
        return [item.about.id for item in found if item.about.is_default]

    assert defaults(await storage.credentials.credentials()) == ["k2", "k3"]
    await storage.credentials.update("k1", {"is_default": True})
    assert defaults(await storage.credentials.credentials()) == ["k1", "k3"]


async def test_a_new_value_raises_the_version_and_an_old_writer_changes_nothing(
    storage: Storage,
) -> None:
    await storage.credentials.add(a_credential())

    changed = await storage.credentials.update(
        "k1", {"expires_at": NOON + 60}, sealed=NEWER, version=1
    )
    late = await storage.credentials.update("k1", {"reason": "late"}, sealed=SEALED, version=1)

    found = await storage.credentials.credential("k1")
    assert found == StoredCredential(
        about=a_credential(version=2, expires_at=NOON + 60).about, sealed=NEWER
    )
    assert changed == a_credential(version=2, expires_at=NOON + 60).about
    assert late is None


async def test_one_of_many_servers_claims_a_refresh(storage: Storage, other: Storage) -> None:
    await storage.credentials.add(a_credential())

    claims = await asyncio.gather(
        *(
            server.credentials.claim_refresh("k1", version=1, now=NOON, until=NOON + 30)
            for server in (storage, other) * 5
        )
    )

    assert sum(claims) == 1


async def test_a_claim_ends_by_itself_by_release_and_with_the_new_value(storage: Storage) -> None:
    async def claim(now: float, *, version: int = 1) -> bool:
        return await storage.credentials.claim_refresh(
            "k1", version=version, now=now, until=now + 30
        )

    await storage.credentials.add(a_credential())
    assert await claim(NOON)
    assert not await claim(NOON + 29)
    assert await claim(NOON + 30)
    await storage.credentials.release_refresh("k1")
    assert await claim(NOON + 31)
    await storage.credentials.update("k1", {}, sealed=NEWER)
    assert not await claim(NOON + 32)
    assert await claim(NOON + 32, version=2)


async def test_a_removed_credential_is_gone(storage: Storage) -> None:
    await storage.credentials.add(a_credential())

    assert await storage.credentials.remove("k1")
    assert not await storage.credentials.remove("k1")
    assert await storage.credentials.update("k1", {"reason": "x"}) is None
    assert await storage.credentials.credentials() == []
