"""Accounts and organisations, in every storage."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from msgspec import structs
from tests.storage.made import NOON

from pegboard.core.ports.accounts.identity_store import (
    FIRST_USER,
    ApiKey,
    BrowserClient,
    LinkedIdentity,
    Membership,
    NewIdentity,
    OneTimeLink,
    Organisation,
    TemporaryRecord,
    User,
    UserSession,
)
from pegboard.errors import AccountNotFound, InvalidRequest
from pegboard.storage import Storage
from pegboard.testing import FakeClock

A_CODE = TemporaryRecord(kind="code", id="a", expires_at=NOON + 60, body={"user": "u1"})
A_CLIENT = BrowserClient(address="192.0.2.1", browser="Firefox on Linux")
ACME = Organisation(handle="acme", title="Acme", created_at=NOON, created_by=FIRST_USER)


def a_user(id: str = FIRST_USER, handle: str = "ada", **changes: Any) -> User:
    fields: dict[str, Any] = {"name": "Ada", "email": f"{handle}@acme.example", "created_at": NOON}
    return User(id=id, handle=handle, **(fields | changes))


def a_member(user: str = FIRST_USER, organisation: str = "acme", **changes: Any) -> Membership:
    fields: dict[str, Any] = {"created_at": NOON, "roles": ("editor",), "state": "approved"}
    return Membership(organisation=organisation, user=user, **(fields | changes))


def a_founding(**changes: Any) -> NewIdentity:
    """The first account, with its organisation."""
    fields: dict[str, Any] = {
        "at": NOON,
        "user": a_user(),
        "organisation": ACME,
        "memberships": (a_member(),),
    }
    return NewIdentity(**(fields | changes))


def a_key(id: str = "k1", **changes: Any) -> ApiKey:
    fields: dict[str, Any] = {
        "digest": f"digest of {id}",
        "user": FIRST_USER,
        "name": "nightly",
        "hint": "pegboard_Ab",
        "created_at": NOON,
    }
    return ApiKey(id=id, **(fields | changes))


def a_session(digest: str = "s1", **changes: Any) -> UserSession:
    fields: dict[str, Any] = {"user": FIRST_USER, "created_at": NOON, "expires_at": NOON + 60}
    return UserSession(digest=digest, **(fields | changes))


def a_link(digest: str = "first", **changes: Any) -> OneTimeLink:
    fields: dict[str, Any] = {
        "purpose": "first",
        "created_at": NOON,
        "created_by": "/local",
        "expires_at": NOON + 60,
    }
    return OneTimeLink(digest=digest, **(fields | changes))


async def test_what_is_founded_together_is_found_on_every_server(
    storage: Storage, other: Storage
) -> None:
    assert not await other.identity.has_users()

    await storage.identity.add(a_founding())

    assert await other.identity.has_users()
    assert await other.identity.user(FIRST_USER) == a_user()
    assert await other.identity.find_user("ADA") == a_user()
    assert await other.identity.find_user("Ada@Acme.example") == a_user()
    assert await other.identity.find_user("") is None
    assert await other.identity.organisation("acme") == ACME
    assert await other.identity.memberships(user=FIRST_USER) == [a_member()]
    assert await other.identity.memberships(organisation="zoo") == []


@pytest.mark.parametrize(
    "second",
    [
        pytest.param({"user": a_user("u2", "ada", email="")}, id="the handle of a person"),
        pytest.param({"user": a_user("u2", "acme", email="")}, id="the handle of an organisation"),
        pytest.param({"user": a_user("u2", "bob", email="ada@acme.example")}, id="the address"),
        pytest.param({"user": a_user(FIRST_USER, "bob")}, id="the first account"),
        pytest.param({"user": None, "organisation": ACME}, id="the same organisation"),
        pytest.param(
            {"user": a_user("u2", "zoo"), "organisation": structs.replace(ACME, handle="zoo")},
            id="one handle for both",
        ),
    ],
)
async def test_a_name_is_given_once_and_a_refused_account_leaves_nothing(
    storage: Storage, other: Storage, second: dict[str, Any]
) -> None:
    await storage.identity.add(a_founding())
    await storage.identity.put_link(a_link("second"))
    new: dict[str, Any] = {"organisation": None, "link": "second", **second}

    with pytest.raises(InvalidRequest):
        await other.identity.add(a_founding(memberships=(a_member("u2"),), **new))

    assert await storage.identity.users() == [a_user()]
    assert await storage.identity.organisations() == [ACME]
    assert await storage.identity.memberships(organisation="acme") == [a_member()]
    link = await storage.identity.link("second")
    assert link is not None
    assert link.used_at is None


async def test_of_two_servers_that_use_a_link_at_once_one_succeeds(
    storage: Storage, other: Storage
) -> None:
    await storage.identity.put_link(a_link())
    founding = [
        asyncio.ensure_future(
            server.identity.add(
                a_founding(user=a_user(f"u{n}", f"ada{n}"), organisation=None, link="first")
            )
        )
        for n, server in enumerate((storage, other))
    ]
    await asyncio.wait(founding)

    failed = [error for task in founding if (error := task.exception()) is not None]
    assert [type(error) for error in failed] == [AccountNotFound]
    assert len(await storage.identity.users()) == 1


@pytest.mark.parametrize(
    ("digest", "at"),
    [
        pytest.param("first", NOON + 60, id="expired"),
        pytest.param("other", NOON, id="unknown"),
    ],
)
async def test_a_link_that_is_not_valid_founds_nothing(
    storage: Storage, digest: str, at: float
) -> None:
    await storage.identity.put_link(a_link())

    with pytest.raises(AccountNotFound):
        await storage.identity.add(a_founding(link=digest, at=at))

    assert not await storage.identity.has_users()


async def test_a_used_link_cannot_be_used_again(storage: Storage, other: Storage) -> None:
    await storage.identity.put_link(a_link())
    await storage.identity.use_link("first", NOON + 1)

    with pytest.raises(AccountNotFound):
        await other.identity.use_link("first", NOON + 2)

    assert await storage.identity.link("first") == a_link(used_at=NOON + 1)


async def test_accounts_are_listed_by_handle_and_changed_alone(
    storage: Storage, other: Storage
) -> None:
    await storage.identity.add(a_founding(user=a_user(handle="zoe")))
    await storage.identity.add(a_founding(user=a_user("u2", "bob"), organisation=None))

    changed = await other.identity.update_user("u2", {"disabled_at": NOON + 5})

    assert changed == a_user("u2", "bob", disabled_at=NOON + 5)
    assert await storage.identity.users() == [changed, a_user(handle="zoe")]
    assert await storage.identity.users(["u2", "nobody"]) == [changed]
    assert await storage.identity.users([]) == []
    assert await storage.identity.update_user("u3", {"name": "Eve"}) is None


async def test_a_membership_is_replaced_and_removed(storage: Storage, other: Storage) -> None:
    await storage.identity.add(a_founding())
    waiting = a_member("u2", state="waiting", roles=())
    await storage.identity.add(NewIdentity(at=NOON, memberships=(waiting,)))
    approved = a_member("u2", roles=("approver", "member"), decided_by=FIRST_USER)
    await other.identity.add(NewIdentity(at=NOON, memberships=(approved,)))

    assert await storage.identity.memberships(organisation="acme") == [a_member(), approved]
    assert await other.identity.remove_membership("acme", "u2")
    assert not await storage.identity.remove_membership("acme", "u2")
    assert await storage.identity.memberships(user="u2") == []


async def test_keys_are_found_by_digest_and_listed_in_order(
    storage: Storage, other: Storage
) -> None:
    for key in (a_key("k2"), a_key("k1"), a_key("k3", user="u2")):
        await storage.identity.add_key(key)

    revoked = await other.identity.update_key("k2", {"revoked_at": NOON + 1})

    assert revoked == a_key("k2", revoked_at=NOON + 1)
    assert await storage.identity.key("digest of k2") == revoked
    assert await storage.identity.key("k2") is None
    assert await other.identity.keys(FIRST_USER) == [revoked, a_key("k1")]
    assert await other.identity.update_key("k9", {"name": "none"}) is None


async def test_ending_the_sessions_of_a_person_leaves_those_of_others(
    storage: Storage, other: Storage
) -> None:
    for session in (a_session("s1"), a_session("s2"), a_session("s3"), a_session("s4", user="u2")):
        await storage.identity.put_session(session)

    await other.identity.end_sessions(digest="s1")
    assert await storage.identity.session("s1") is None
    assert await storage.identity.session("s2") == a_session("s2")

    await other.identity.end_sessions(user=FIRST_USER)
    assert await storage.identity.session("s2") is None
    assert await storage.identity.session("s4") == a_session("s4", user="u2")


async def test_a_sweep_forgets_expired_sessions_and_links(
    storage: Storage, clock: FakeClock
) -> None:
    now = clock.time()
    await storage.identity.put_session(a_session("old", expires_at=now - 1))
    await storage.identity.put_session(a_session("new", expires_at=now + 1))
    await storage.identity.put_link(a_link("old", expires_at=now - 1))
    await storage.identity.put_link(a_link("new", expires_at=now + 1))

    await storage.sweep()

    assert await storage.identity.session("old") is None
    assert await storage.identity.link("old") is None
    assert await storage.identity.session("new") is not None
    assert await storage.identity.link("new") is not None


async def test_each_change_of_rights_raises_the_revision_and_a_use_of_a_key_does_not(
    storage: Storage, other: Storage
) -> None:
    changes = (
        lambda: storage.identity.add(a_founding()),
        lambda: storage.identity.update_user(FIRST_USER, {"disabled_at": NOON}),
        lambda: storage.identity.update_key("k1", {"revoked_at": NOON}),
        lambda: storage.identity.update_session("s1", {"organisation": "acme"}),
        lambda: storage.identity.end_sessions(user=FIRST_USER),
        lambda: storage.identity.remove_membership("acme", FIRST_USER),
    )
    await storage.identity.add_key(a_key())
    await storage.identity.put_session(a_session())
    revisions = [await other.identity.revision()]
    for change in changes:
        await change()
        revisions.append(await other.identity.revision())
    await storage.identity.update_key("k1", {"used_at": NOON})
    await storage.identity.put_session(a_session())
    await storage.identity.update_session("s1", {"used_at": NOON, "used_from": A_CLIENT})
    assert await other.identity.session("s1") == a_session(used_at=NOON, used_from=A_CLIENT)

    assert all(before < after for before, after in pairwise(revisions))
    assert await other.identity.revision() == revisions[-1]


async def test_a_replaced_cookie_is_valid_until_then_and_replaced_once(
    storage: Storage, other: Storage
) -> None:
    await storage.identity.put_session(a_session("s1"))
    new = a_session("s2", id="s1", created_at=NOON + 10)

    assert await storage.identity.replace_session("s1", new, until=NOON + 20)
    assert not await other.identity.replace_session("s1", new, until=NOON + 30)

    old = a_session("s1", replaced=True, expires_at=NOON + 20)
    assert await other.identity.sessions(FIRST_USER) == [old, new]
    await other.identity.end_sessions(user=FIRST_USER, id="s1")
    assert await storage.identity.sessions(FIRST_USER) == []


async def test_ending_one_session_of_a_person_leaves_the_others(storage: Storage) -> None:
    await storage.identity.put_session(a_session("s1"))
    await storage.identity.put_session(a_session("s2"))

    await storage.identity.end_sessions(user=FIRST_USER, id="s1")

    assert await storage.identity.sessions(FIRST_USER) == [a_session("s2")]


async def test_a_session_that_gets_a_new_cookie_while_it_is_ended_is_ended(
    storage: Storage, other: Storage
) -> None:
    """On PostgreSQL the new cookie is stored between the look for sessions and their end."""
    for number in range(20):
        await storage.identity.put_session(a_session(f"old{number}"))
        new = a_session(f"new{number}", id=f"old{number}", created_at=NOON + 10)
        await asyncio.gather(
            storage.identity.replace_session(f"old{number}", new, until=NOON + 20),
            other.identity.end_sessions(user=FIRST_USER, id=f"old{number}"),
        )

    assert await storage.identity.sessions(FIRST_USER) == []


async def test_a_new_cookie_keeps_what_was_chosen_meanwhile(
    storage: Storage, other: Storage
) -> None:
    await storage.identity.put_session(a_session("s1"))
    known = await storage.identity.session("s1")
    assert known is not None
    new = structs.replace(known, digest="s2", id="s1", created_at=NOON + 10)
    chosen = {"organisation": "acme", "used_at": NOON + 9, "used_from": A_CLIENT}
    await other.identity.update_session("s1", chosen)

    assert await storage.identity.replace_session("s1", new, until=NOON + 20)

    assert await other.identity.session("s2") == structs.replace(new, **chosen)


async def test_a_key_is_found_by_its_id(storage: Storage, other: Storage) -> None:
    await storage.identity.add_key(a_key())

    assert await other.identity.get_key("k1") == a_key()
    assert await other.identity.get_key("k2") is None


async def test_a_renewed_key_has_a_new_text_unless_it_was_revoked(
    storage: Storage, other: Storage
) -> None:
    await storage.identity.add_key(a_key(expires_at=NOON + 1))

    renewed = await other.identity.renew_key("k1", digest="new", expires_at=NOON + 60)

    assert renewed == a_key(digest="new", expires_at=NOON + 60)
    assert await storage.identity.key("digest of k1") is None
    assert await storage.identity.key("new") == renewed
    await storage.identity.update_key("k1", {"revoked_at": NOON})
    assert await other.identity.renew_key("k1", digest="newer", expires_at=NOON + 90) is None
    assert await other.identity.renew_key("k2", digest="newer", expires_at=NOON + 90) is None


async def test_a_person_of_a_provider_has_one_account(storage: Storage, other: Storage) -> None:
    linked = LinkedIdentity(
        issuer="https://id.example", subject="7", user=FIRST_USER, created_at=NOON
    )
    await storage.identity.add(a_founding(linked=linked))
    again = a_founding(user=a_user("u2", "bob"), organisation=None, linked=linked)

    with pytest.raises(InvalidRequest):
        await other.identity.add(again)

    assert await other.identity.find_linked("https://id.example", "7") == linked
    assert await other.identity.find_linked("https://id.example", "8") is None
    assert await other.identity.user("u2") is None


async def test_a_record_is_taken_once_and_not_after_its_time(
    storage: Storage, other: Storage
) -> None:
    for item in (A_CODE, structs.replace(A_CODE, id="b"), structs.replace(A_CODE, kind="ticket")):
        await storage.identity.put_record(item)

    taken = [await server.identity.take_record("code", "a", at=NOON) for server in (other, storage)]

    assert taken == [A_CODE, None]
    assert await other.identity.record("ticket", "a", at=NOON) is not None
    assert await other.identity.record("ticket", "a", at=NOON + 60) is None
    assert await other.identity.take_record("code", "b", at=NOON + 60) is None


async def test_attempts_are_counted_by_all_servers_until_the_window_ends(
    storage: Storage, other: Storage
) -> None:
    limits = {"ada": 2, "ada from here": 3}

    async def count(server: Storage, at: float) -> float:
        return await server.identity.count_attempt(limits, at=at, window=60)

    waits = [await count(server, NOON + n) for n, server in enumerate((storage, other, storage))]
    assert waits == [0, 0, 58]
    assert await count(other, NOON + 61) == 0

    await other.identity.take_back_attempt("ada")
    assert await count(storage, NOON + 61) == 0
    await other.identity.forget_attempts("ada")
    await other.identity.forget_attempts("ada from here")
    assert [await count(storage, NOON + 62) for _ in range(2)] == [0, 0]


async def gather(*works: Any) -> list[Any]:
    return list(await asyncio.gather(*works, return_exceptions=True))


async def test_of_two_operators_who_dismiss_each_other_at_once_one_stays(
    storage: Storage, other: Storage
) -> None:
    await storage.identity.add(a_founding(user=a_user(is_operator=True)))
    bob = a_user("u2", "bob", is_operator=True)
    await storage.identity.add(NewIdentity(at=NOON, user=bob))

    done = await gather(
        storage.identity.update_user("u2", {"is_operator": False}, keeps_operator=True),
        other.identity.update_user(FIRST_USER, {"disabled_at": NOON}, keeps_operator=True),
    )

    people = await storage.identity.users()
    assert len([it for it in people if it.is_operator and it.disabled_at is None]) == 1
    assert sorted(isinstance(item, InvalidRequest) for item in done) == [False, True]


async def test_of_two_administrators_who_go_at_once_one_stays(
    storage: Storage, other: Storage
) -> None:
    both = (a_member(roles=("administrator",)), a_member("u2", roles=("administrator",)))
    await storage.identity.add(a_founding(memberships=both))
    await storage.identity.add(NewIdentity(at=NOON, user=a_user("u2", "bob")))
    lowered = NewIdentity(at=NOON, memberships=(a_member("u2"),), keeps_administrator=True)

    done = await gather(
        storage.identity.remove_membership("acme", FIRST_USER), other.identity.add(lowered)
    )

    members = await storage.identity.memberships(organisation="acme")
    assert sum("administrator" in item.roles for item in members) == 1
    assert sorted(isinstance(item, InvalidRequest) for item in done) == [False, True]
