"""Accounts: made by one-time links, and disabled."""

from typing import Any

import pytest
from tests.features.identity.made import PASSWORD, Server, WatchedStore, an_account
from tests.features.trail import Trail

from pegboard.core.ports.accounts.identity_store import PersonChange
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AccessDenied,
    AccountNotFound,
    AuditUnavailable,
    InvalidRequest,
    PegboardError,
    SignInRefused,
)
from pegboard.features.identity.accounts import LINK_LIFETIME, LinkRequest
from pegboard.storage import MemoryStorage
from pegboard.testing import FakeClock

OUT, IN = PersonChange(disabled=True), PersonChange(disabled=False)


async def test_the_first_link_makes_an_operator_who_founds_an_organisation(server: Server) -> None:
    assert not server.identity.has_accounts

    user = await server.found(organisation_title="Acme Ltd")

    ada = await server.caller("ada")
    assert server.identity.has_accounts
    assert user.password.startswith("$argon2id$")
    assert ada == Principal(
        id="local",
        kind="user",
        tenant="acme",
        scopes=frozenset(
            {
                "*",
                "acme/approvals:decide",
                "acme/people:write",
                "acme/tools:read",
                "acme/tools:write",
            }
        ),
        roles=frozenset({"acme/administrator", "acme/editor"}),
        user="local",
        organisations=frozenset({"acme"}),
    )
    (acme,) = await server.identity.organisations.list(principal=ada)
    assert (acme.handle, acme.title) == ("acme", "Acme Ltd")


async def test_what_local_owned_is_the_first_operators(server: Server) -> None:
    await server.found()

    ada = await server.caller("ada")

    assert ada.owner == LOCAL.owner
    assert ada.owns("", "local")
    assert ada.owns("", "token")


async def test_a_link_makes_one_account(server: Server) -> None:
    new = await server.identity.accounts.make_link(LinkRequest(), principal=LOCAL)
    await server.identity.accounts.join(an_account(new.token))

    with pytest.raises(AccountNotFound):
        await server.identity.accounts.join(an_account(new.token, handle="eve", email=""))


async def test_of_two_first_links_the_second_is_worth_nothing(server: Server) -> None:
    second = await server.identity.accounts.make_link(LinkRequest(), principal=LOCAL)
    await server.found()

    with pytest.raises(AccountNotFound):
        await server.identity.accounts.read_link(second.token)


async def test_a_link_expires(server: Server, clock: FakeClock) -> None:
    new = await server.identity.accounts.make_link(LinkRequest(), principal=LOCAL)
    clock.advance(LINK_LIFETIME)

    with pytest.raises(AccountNotFound):
        await server.identity.accounts.join(an_account(new.token))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        pytest.param({"handle": "Ada"}, InvalidRequest, id="a capital"),
        pytest.param({"handle": "a"}, InvalidRequest, id="one character"),
        pytest.param({"handle": "a234567890123"}, InvalidRequest, id="thirteen characters"),
        pytest.param({"handle": "1ada"}, InvalidRequest, id="a digit first"),
        pytest.param({"handle": "a-da"}, InvalidRequest, id="a hyphen"),
        pytest.param({"handle": "\u0430da"}, InvalidRequest, id="a Cyrillic letter"),
        pytest.param({"handle": "local"}, InvalidRequest, id="a reserved word"),
        pytest.param({"organisation": "ada"}, InvalidRequest, id="both handles the same"),
        pytest.param({"organisation": ""}, InvalidRequest, id="no organisation"),
        pytest.param({"password": "123456789"}, InvalidRequest, id="a short password"),
        pytest.param({"password": "x" * 201}, InvalidRequest, id="a long password"),
        pytest.param({"email": "ada"}, InvalidRequest, id="no address"),
        pytest.param({"name": "Ada\u202e"}, InvalidRequest, id="a name with an override"),
        pytest.param({"organisation_title": "A\u200bcme"}, InvalidRequest, id="a hidden space"),
    ],
)
async def test_a_refused_account_leaves_the_link_for_another_attempt(
    server: Server, changes: dict[str, Any], error: type[PegboardError]
) -> None:
    new = await server.identity.accounts.make_link(LinkRequest(), principal=LOCAL)

    with pytest.raises(error):
        await server.identity.accounts.join(an_account(new.token, **changes))

    assert not server.identity.has_accounts
    assert (await server.identity.accounts.join(an_account(new.token))).handle == "ada"


async def test_an_invited_person_has_the_roles_of_the_link(server: Server) -> None:
    await server.found()

    bob = await server.invite("bob", roles=("editor", "approver"))

    assert bob.id != "local"
    assert bob.tenant == "acme"
    assert bob.roles == {"acme/approver", "acme/editor"}
    assert bob.scopes == {"acme/approvals:decide", "acme/tools:read", "acme/tools:write"}
    assert not bob.is_operator


async def test_an_administrator_invites_and_a_member_does_not(server: Server) -> None:
    await server.found()
    admin = await server.invite("amy", roles=("administrator",))
    member = await server.invite("bob")
    wanted = LinkRequest(organisation="acme", roles=("member",))

    await server.identity.accounts.make_link(wanted, principal=admin)
    with pytest.raises(AccessDenied):
        await server.identity.accounts.make_link(wanted, principal=member)


async def test_an_organisation_of_others_is_like_none(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob")
    await server.identity.organisations.create("zoo", principal=await server.caller("ada"))
    told: list[str] = []

    for handle in ("zoo", "nix"):
        with pytest.raises(AccountNotFound) as caught:
            await server.identity.accounts.make_link(
                LinkRequest(organisation=handle), principal=bob
            )
        told.append(caught.value.message.replace(handle, "X"))

    assert told[0] == told[1]


async def test_local_makes_links_to_sign_in_again_and_invites_nobody(server: Server) -> None:
    await server.found()

    new = await server.identity.accounts.make_link(LinkRequest(person="ada"), principal=LOCAL)
    await server.identity.accounts.set_password(new.token, "battery staple")

    assert (await server.caller("ada", "battery staple")).id == "local"
    with pytest.raises(SignInRefused):
        await server.caller("ada")
    with pytest.raises(AccessDenied):
        await server.identity.accounts.make_link(
            LinkRequest(organisation="acme", roles=("administrator",)), principal=LOCAL
        )


async def test_a_new_password_ends_the_sessions_that_were_there(
    server: Server, other: Server
) -> None:
    await server.found()
    session = await other.identity.sign_ins.sign_in("ada", PASSWORD, address="a")
    new = await server.identity.accounts.make_link(LinkRequest(person="ada"), principal=LOCAL)

    await server.identity.accounts.set_password(new.token, "battery staple")

    assert await other.identify(cookie=session.cookie) == "no_token"


async def test_a_member_cannot_make_a_link_for_somebody_else(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob")

    with pytest.raises(AccessDenied):
        await server.identity.accounts.make_link(LinkRequest(person="ada"), principal=bob)
    with pytest.raises(AccountNotFound):
        await server.identity.accounts.make_link(LinkRequest(person="eve"), principal=bob)


async def test_a_disabled_person_is_out_at_once_here_and_within_a_second_elsewhere(
    server: Server, other: Server, clock: FakeClock
) -> None:
    await server.found()
    bob = await server.invite("bob")
    key = (await server.identity.keys.make("ci", principal=bob)).key
    session = await other.identity.sign_ins.sign_in("bob", PASSWORD, address="a")
    assert (await other.caller_of(key=key)).principal.user == bob.user
    assert (await other.caller_of(cookie=session.cookie)).principal.user == bob.user

    await server.identity.accounts.change("bob", OUT, principal=await server.caller("ada"))

    assert await server.identify(key=key) == "wrong_token"
    assert await server.identify(cookie=session.cookie) == "no_token"
    clock.advance(1.0)
    assert await other.identify(key=key) == "wrong_token"
    assert await other.identify(cookie=session.cookie) == "no_token"
    with pytest.raises(SignInRefused):
        await other.caller("bob")


async def test_a_person_who_is_enabled_again_has_keys_and_no_sessions(
    server: Server, clock: FakeClock
) -> None:
    await server.found()
    bob = await server.invite("bob")
    key = (await server.identity.keys.make("ci", principal=bob)).key
    session = await server.identity.sign_ins.sign_in("bob", PASSWORD, address="a")
    ada = await server.caller("ada")
    await server.identity.accounts.change("bob", OUT, principal=ada)
    await server.identity.accounts.change("bob", IN, principal=ada)

    assert (await server.caller_of(key=key)).principal.user == bob.user
    assert await server.identify(cookie=session.cookie) == "no_token"


async def test_only_operators_disable_and_never_the_last_one(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob", roles=("administrator",))

    with pytest.raises(AccessDenied):
        await server.identity.accounts.change("ada", OUT, principal=bob)
    with pytest.raises(AccessDenied):
        await server.identity.accounts.change("ada", OUT, principal=LOCAL)
    with pytest.raises(InvalidRequest):
        await server.identity.accounts.change("ada", OUT, principal=await server.caller("ada"))


async def test_a_person_sees_those_of_the_own_organisations(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob")
    ada = await server.caller("ada")
    await server.identity.organisations.create("zoo", principal=ada)
    eve = await server.invite("eve", organisation="zoo")

    async def seen(principal: Principal) -> list[str]:
        return [user.handle for user in await server.identity.accounts.list(principal=principal)]

    assert await seen(ada) == ["ada", "bob", "eve"]
    assert await seen(bob) == ["ada", "bob"]
    assert await seen(eve) == ["ada", "eve"]


async def test_another_server_learns_that_accounts_have_begun(
    server: Server, other: Server
) -> None:
    await server.found()
    assert not other.identity.has_accounts

    await other.identity.accounts.load()

    assert other.identity.has_accounts


async def test_changes_are_reported_without_a_secret(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob")
    made = await server.identity.keys.make("ci", principal=bob)

    told = [(event.action, event.subject, event.by) for event in server.events]
    assert told == [
        ("linked", "", "local"),
        ("joined", "ada", "local"),
        ("signed_in", "ada", "local"),
        ("invited", "acme", "local"),
        ("joined", "bob", bob.id),
        ("signed_in", "bob", bob.id),
        ("made_key", made.stored.id, bob.id),
    ]
    assert made.key not in repr(server.events)
    assert PASSWORD not in repr(server.events)


async def test_without_the_audit_trail_that_is_required_nobody_joins(
    storage: MemoryStorage, clock: FakeClock
) -> None:
    trail = Trail()
    server = Server(storage.identity, clock, prove=trail.prove)
    new = await server.identity.accounts.make_link(LinkRequest(), principal=LOCAL)
    trail.is_away = True

    with pytest.raises(AuditUnavailable):
        await server.identity.accounts.join(an_account(new.token))

    assert not await storage.identity.has_users()
    assert trail.decided == [("link", "")]


async def test_once_there_are_accounts_the_store_is_not_asked_again(
    storage: MemoryStorage, clock: FakeClock
) -> None:
    server = Server(storage.identity, clock)
    await server.found()
    await storage.close()

    await server.identity.accounts.load()

    assert server.identity.has_accounts


async def test_an_operator_names_another_and_may_then_go(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob")
    named, dismissed = PersonChange(operator=True), PersonChange(operator=False)
    accounts = server.identity.accounts

    with pytest.raises(AccessDenied):
        await accounts.change("bob", named, principal=bob)
    with pytest.raises(InvalidRequest, match="last operator"):
        await accounts.change("ada", dismissed, principal=await server.caller("ada"))
    await accounts.change("bob", named, principal=await server.caller("ada"))
    bob = await server.caller("bob")
    await accounts.change("ada", dismissed, principal=bob)

    assert bob.is_operator
    assert not (await server.caller("ada")).is_operator
    actions = [event.action for event in server.events]
    assert actions[-4:] == ["named_operator", "signed_in", "dismissed_operator", "signed_in"]


async def test_a_key_of_an_operator_names_no_operators(server: Server) -> None:
    await server.found()
    await server.invite("bob")
    made = await server.identity.keys.make("ci", principal=await server.caller("ada"))
    caller = (await server.caller_of(key=made.key)).principal

    with pytest.raises(AccessDenied):
        await server.identity.accounts.change("bob", PersonChange(operator=True), principal=caller)


async def test_the_key_of_an_agent_makes_no_link_to_the_rights_of_its_person(
    server: Server,
) -> None:
    await server.found()
    ada = await server.caller("ada")
    made = await server.identity.keys.make("agent", principal=ada)
    agent = (await server.caller_of(key=made.key)).principal

    with pytest.raises(AccessDenied, match="the key of an agent"):
        await server.identity.accounts.make_link(LinkRequest(person="ada"), principal=agent)


async def test_only_operators_found_organisations(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob", roles=("member",))

    with pytest.raises(AccessDenied, match="no operator"):
        await server.identity.organisations.create("mine", principal=bob)


async def test_a_link_is_worth_nothing_once_its_maker_may_not_make_it(server: Server) -> None:
    await server.found()
    accounts, organisations = server.identity.accounts, server.identity.organisations
    ada = await server.caller("ada")
    bob = await server.invite("bob", roles=("administrator",))
    wanted = LinkRequest(organisation="acme", roles=("administrator",))
    invitation = await accounts.make_link(wanted, principal=bob)
    await accounts.read_link(invitation.token)

    await organisations.remove("acme", "bob", principal=ada)

    with pytest.raises(AccountNotFound, match="ask for a new one"):
        await accounts.read_link(invitation.token)
    account = an_account(invitation.token, handle="bobby", email="", organisation="")
    with pytest.raises(AccountNotFound):
        await accounts.join(account)


async def test_a_dismissed_operator_gives_nobody_a_new_password(server: Server) -> None:
    await server.found()
    accounts, ada = server.identity.accounts, await server.caller("ada")
    await server.invite("bob")
    await accounts.change("bob", PersonChange(operator=True), principal=ada)
    bob = await server.caller("bob")
    link = await accounts.make_link(LinkRequest(person="ada"), principal=bob)
    own = await accounts.make_link(LinkRequest(person="bob"), principal=ada)

    await accounts.change("bob", PersonChange(operator=False), principal=ada)

    with pytest.raises(AccountNotFound):
        await accounts.set_password(link.token, "a password of Bob")
    assert (await accounts.set_password(own.token, "a password of Bob")).handle == "bob"
    assert (await server.caller("ada")).is_operator


async def test_a_service_account_gets_no_password(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")
    await server.identity.services.make("acme", "robot", principal=ada)

    with pytest.raises(InvalidRequest, match="signs in with keys alone"):
        await server.identity.accounts.make_link(LinkRequest(person="robot"), principal=ada)


async def test_a_person_of_others_takes_the_work_of_one_who_is_not_there(
    server: Server, watched: WatchedStore
) -> None:
    await server.found()
    await server.identity.organisations.create("zoo", principal=await server.caller("ada"))
    await server.invite("bob")
    eve = await server.invite("eve", roles=("administrator",), organisation="zoo")
    accounts, change = server.identity.accounts, PersonChange(disabled=True)

    links = [
        await watched.take(accounts.make_link(LinkRequest(person=person), principal=eve))
        for person in ("bob", "nix")
    ]
    changes = [
        await watched.take(accounts.change(person, change, principal=eve))
        for person in ("bob", "nix")
    ]

    assert links[0] == links[1]
    assert changes[0] == changes[1]
