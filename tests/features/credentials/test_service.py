"""What callers store: whose it is, which one is used, who shares, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.features.credentials.made import ADA, BOB, EVE, Office, a_target, an_office, token_server

from pegboard.core.ports.accounts.credentials import CallerAuth
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AccessDenied,
    CredentialMissing,
    CredentialNotFound,
    InvalidRequest,
    Unavailable,
)
from pegboard.features.credentials.parts import owner_of
from pegboard.features.credentials.schemas import AddCredential
from pegboard.features.credentials.service import CredentialChange, NewCredential
from pegboard.features.credentials.targets import check_name
from pegboard.secrets import GivenKeys
from pegboard.secrets.master_keys import id_of
from pegboard.testing import FakeClock


def a_new(value: str = "token-1", **changes: Any) -> NewCredential:
    fields: dict[str, Any] = {"source": "github", "kind": "bearer"}
    return NewCredential(value=value, **(fields | changes))


@pytest.fixture
def office(clock: FakeClock) -> Office:
    return an_office({"github": a_target(), "shop": a_target("shop", owner="bob")}, clock=clock)


async def used_by(office: Office, principal: Principal, source: str = "github") -> str:
    stored = await office.resolver.find(source, "tool", principal=principal)
    return (await office.resolver.reveal(stored, tool="tool")).sent


async def test_the_first_is_the_default_until_another_one_is_chosen(office: Office) -> None:
    await office.service.add(a_new("work", name="work"), principal=BOB)
    home = await office.service.add(a_new("home", name="home"), principal=BOB)
    first = await used_by(office, BOB)
    await office.service.change(home.id, CredentialChange(is_default=True), principal=BOB)

    assert (first, await used_by(office, BOB)) == ("work", "home")
    assert [item.is_default for item in await office.service.list(principal=BOB)] == [False, True]


async def test_the_owner_of_a_source_and_an_operator_share_and_others_do_not(
    office: Office,
) -> None:
    shared = a_new("of bob", source="shop", shared=True)

    await office.service.add(shared, principal=BOB)
    with pytest.raises(AccessDenied):
        await office.service.add(shared, principal=EVE)
    with pytest.raises(AccessDenied):
        await office.service.add(a_new(shared=True), principal=BOB)
    await office.service.add(a_new("of ada", shared=True), principal=ADA)

    assert await used_by(office, EVE, "shop") == "of bob"
    assert await used_by(office, EVE) == "of ada"
    assert office.settled.told == [("shop", ""), ("github", "")]


async def test_sharing_ends_when_its_owner_says_so(office: Office) -> None:
    shared = await office.service.add(a_new(shared=True), principal=ADA)
    await office.service.change(shared.id, CredentialChange(shared=False), principal=ADA)

    with pytest.raises(CredentialMissing, match="no credential for 'github'"):
        await used_by(office, BOB)


async def test_a_new_value_is_used_by_the_next_call(office: Office) -> None:
    added = await office.service.add(a_new("old"), principal=BOB)

    await office.service.change(added.id, CredentialChange(value="new"), principal=BOB)

    assert await used_by(office, BOB) == "new"
    assert office.settled.told == [("github", "bob")] * 2


async def test_another_caller_finds_and_changes_nothing(office: Office) -> None:
    added = await office.service.add(a_new(), principal=BOB)

    for principal in (ADA, EVE, LOCAL):
        assert await office.service.list(principal=principal) == []
        with pytest.raises(CredentialNotFound):
            await office.service.get(added.id, principal=principal)
        with pytest.raises(CredentialNotFound):
            await office.service.remove(added.id, principal=principal)


async def test_a_credential_that_has_expired_is_not_sent(office: Office, clock: FakeClock) -> None:
    await office.service.add(a_new(expires_at=clock.time() + 60), principal=BOB)
    assert await used_by(office, BOB) == "token-1"
    clock.advance(60)

    with pytest.raises(CredentialMissing, match="has expired"):
        await used_by(office, BOB)


async def test_a_credential_that_the_source_no_longer_takes_is_not_sent(clock: FakeClock) -> None:
    sources = {"github": a_target()}
    office = an_office(sources, clock=clock)
    await office.service.add(a_new(), principal=BOB)
    sources["github"] = a_target(auth=CallerAuth(kinds=("basic",)))

    with pytest.raises(CredentialMissing, match="takes basic now, and your credential is bearer"):
        await used_by(office, BOB)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (a_new(source="gone"), "no source 'gone'"),
        (a_new(kind="basic", username="bob"), "takes bearer, not basic"),
        (a_new(""), "A value is needed"),
        (a_new("é"), "no header can carry"),
        (a_new(name="  "), "1 to 100"),
    ],
    ids=["source", "kind", "empty", "not ascii", "name"],
)
async def test_what_cannot_be_sent_is_not_stored(
    office: Office, new: NewCredential, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        await office.service.add(new, principal=BOB)

    assert await office.service.list(principal=BOB) == []


async def test_a_client_gets_its_first_token_when_it_is_stored(clock: FakeClock) -> None:
    async with token_server() as (server, http):
        auth = CallerAuth(kinds=("oauth2_client",), oauth=server.oauth(scopes=("read", "write")))
        office = an_office({"github": a_target(auth=auth)}, clock=clock, http=http)
        new = a_new("secret", kind="oauth2_client", username="robot")

        added = await office.service.add(new, principal=BOB)
        server.answer = {"error": "invalid_client"}
        with pytest.raises(InvalidRequest, match="refuses the client: invalid_client"):
            await office.service.add(
                a_new("no", name="b", kind="oauth2_client", username="r"), principal=BOB
            )

        assert await used_by(office, BOB) == "access-1"
    assert added.expires_at == clock.time() + 600
    assert server.forms[0] == {"grant_type": ["client_credentials"], "scope": ["read write"]}
    assert server.headers[0]["authorization"].startswith("Basic ")


def keys(*names: bytes) -> GivenKeys:
    return GivenKeys({id_of(name * 32): name * 32 for name in names}, hint="no master key")


async def test_only_an_operator_rotates_and_the_old_key_is_needed_no_longer(
    office: Office, clock: FakeClock
) -> None:
    store = office.parts.store

    def with_keys(given: GivenKeys) -> Office:
        return an_office({"github": a_target()}, clock=clock, store=store, keys=given)

    await with_keys(keys(b"o")).service.add(a_new("kept"), principal=BOB)
    rotating = with_keys(keys(b"n", b"o")).service
    with pytest.raises(AccessDenied, match="only an operator"):
        await rotating.rotate(principal=BOB)

    assert [await rotating.rotate(principal=ADA) for _ in range(2)] == [1, 0]
    assert await used_by(with_keys(keys(b"n")), BOB) == "kept"
    with pytest.raises(Unavailable, match="PEGBOARD_SECRET_KEY"):
        await used_by(with_keys(keys(b"o")), BOB)


async def test_without_a_master_key_nothing_is_stored(clock: FakeClock) -> None:
    office = an_office({"github": a_target()}, clock=clock, keys=keys())

    with pytest.raises(Unavailable, match="no master key"):
        await office.service.add(a_new(), principal=BOB)


def test_values_are_not_part_of_what_is_printed() -> None:
    shown: list[Callable[[], object]] = [
        lambda: a_new("s3cret"),
        lambda: CredentialChange(value="s3cret"),
        lambda: AddCredential.model_validate(
            {"source": "github", "kind": "bearer", "value": "s3cret"}
        ),
    ]

    assert [repr(make()) for make in shown if "s3cret" in repr(make())] == []
    assert owner_of(LOCAL) == "local"
    assert check_name(" work ") == "work"
