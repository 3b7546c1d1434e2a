"""Service accounts: keys of an organisation, which decide nothing."""

import pytest
from tests.features.identity.made import Server

from pegboard.access.key_scopes import explain_missing_key_scope
from pegboard.core.ports.approval_store import Approval
from pegboard.core.tool import Effect
from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest, SignInRefused
from pegboard.features.permissions import may_decide_approval


def an_approval() -> Approval:
    return Approval(
        id="a",
        tool="t",
        arguments={},
        digest="d",
        principal="u",
        tenant="acme",
        created_at=0.0,
        expires_at=1.0,
    )


async def test_a_service_account_acts_for_its_organisation_with_the_key_that_was_made(
    server: Server,
) -> None:
    await server.found()
    ada, services = await server.caller("ada"), server.identity.services

    made = await services.make("acme", "robot", roles=["editor"], principal=ada)
    key = await services.make_key("acme", "robot", "ci", principal=ada)

    caller = (await server.caller_of(key=key.key)).principal
    assert (caller.id, caller.kind, caller.tenant) == (made.id, "service", "acme")
    assert caller.roles == {"acme/editor"}
    with pytest.raises(SignInRefused):
        await server.caller("robot", "")
    with pytest.raises(AccessDenied):
        await server.identity.keys.make("more", principal=caller)

    revoked = await services.revoke_key("acme", "robot", key.stored.id, principal=ada)
    assert await services.list_keys("acme", "robot", principal=ada) == [revoked]
    assert await server.identify(key=key.key) == "wrong_token"


async def test_only_administrators_of_the_organisation_make_service_accounts(
    server: Server,
) -> None:
    await server.found()
    bob = await server.invite("bob", roles=("editor",))
    ada, services = await server.caller("ada"), server.identity.services
    await server.identity.organisations.create("zoo", principal=ada)
    await services.make("zoo", "keeper", principal=await server.caller("ada"))

    with pytest.raises(AccessDenied):
        await services.make("acme", "robot", principal=bob)
    with pytest.raises(AccountNotFound):
        await services.make("zoo", "robot", principal=bob)
    with pytest.raises(AccountNotFound):
        await services.make_key("acme", "keeper", "ci", principal=ada)
    with pytest.raises(AccountNotFound):
        await services.make_key("acme", "ada", "ci", principal=ada)


async def test_a_service_account_is_never_an_approver(server: Server) -> None:
    await server.found()
    ada, services = await server.caller("ada"), server.identity.services
    await services.make("acme", "robot", principal=ada)

    with pytest.raises(InvalidRequest):
        await services.make("acme", "judge", roles=["approver"], principal=ada)
    with pytest.raises(InvalidRequest):
        await server.identity.organisations.approve("acme", "robot", ["approver"], principal=ada)


async def test_a_key_of_a_service_account_has_scopes_that_there_are(server: Server) -> None:
    await server.found()
    ada, services = await server.caller("ada"), server.identity.services
    await services.make("acme", "robot", roles=["editor"], principal=ada)

    for scope in ("nonsense", "zoo/tools:read"):
        with pytest.raises(InvalidRequest, match=f"with the scope '{scope}'"):
            await services.make_key("acme", "robot", "ci", scopes=[scope], principal=ada)
    made = await services.make_key("acme", "robot", "ci", scopes=["tools:read"], principal=ada)
    assert made.stored.scopes == ("tools:read",)


@pytest.mark.parametrize(
    ("person", "scopes", "may"),
    [
        pytest.param("ada", ("*",), False, id="an operator's key"),
        pytest.param("ada", ("*", "approvals:decide"), True, id="an operator's, named"),
        pytest.param("amy", ("*",), False, id="an approver's key"),
        pytest.param("amy", ("approvals:decide",), True, id="an approver's, named"),
        pytest.param("bob", ("approvals:decide",), False, id="a member's, named"),
    ],
)
async def test_a_key_decides_approvals_where_it_names_that_and_its_person_may(
    server: Server, person: str, scopes: tuple[str, ...], may: bool
) -> None:
    await server.found()
    await server.invite("amy", roles=("approver",))
    await server.invite("bob")
    principal = await server.caller(person)
    made = await server.identity.keys.make("ci", scopes=scopes, principal=principal)

    caller = (await server.caller_of(key=made.key)).principal

    assert may_decide_approval(caller, an_approval()) is may


@pytest.mark.parametrize(
    ("scopes", "reads", "writes"),
    [
        pytest.param(("*",), True, True, id="all"),
        pytest.param(("tools:write",), True, True, id="write"),
        pytest.param(("tools:read",), True, False, id="read"),
        pytest.param(("people:write",), False, False, id="another"),
    ],
)
async def test_the_scopes_of_a_key_limit_the_tools_that_it_calls(
    server: Server, scopes: tuple[str, ...], reads: bool, writes: bool
) -> None:
    await server.found()
    await server.invite("amy", roles=("editor", "administrator"))
    made = await server.identity.keys.make(
        "ci", scopes=scopes, principal=await server.caller("amy")
    )

    caller = (await server.caller_of(key=made.key)).principal
    reasons = [explain_missing_key_scope(caller, it) for it in (Effect.READ, Effect.WRITE)]

    assert [not reason for reason in reasons] == [reads, writes]


async def test_its_name_hides_no_characters(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")

    with pytest.raises(InvalidRequest, match="The name has a character that is not shown"):
        await server.identity.services.make("acme", "robot", name="ada\u200b", principal=ada)
