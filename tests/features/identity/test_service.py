"""The services of one board know the same accounts."""

from tests.features.identity.made import cheap_passwords

from pegboard import ToolRegistry
from pegboard.core.ports.audit_store import skip_proof
from pegboard.core.principal import LOCAL
from pegboard.features.identity.accounts import LinkRequest
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.service import Identity
from pegboard.storage import MemoryStorage


async def test_a_board_begins_without_accounts() -> None:
    registry, storage = ToolRegistry(), MemoryStorage()
    identity = Identity(
        storage.identity,
        lambda: registry.environment,
        roles=storage.roles,
        prove=skip_proof,
        passwords=cheap_passwords(),
    )
    await identity.accounts.load()

    new = await identity.accounts.make_link(LinkRequest(), principal=LOCAL)

    assert not identity.has_accounts
    assert new.link.purpose == "first"
    assert await identity.accounts.list(principal=LOCAL) == []


def test_times_are_those_of_the_board() -> None:
    environment = ToolRegistry().environment
    storage = MemoryStorage()
    parts = IdentityParts(
        storage.identity, lambda: environment, roles=storage.roles, prove=skip_proof
    )

    assert environment.now() <= parts.now() <= environment.now()
    assert environment.monotonic() <= parts.monotonic() <= environment.monotonic()
