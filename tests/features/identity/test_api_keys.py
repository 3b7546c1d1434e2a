"""API keys: what they may do, and when they end."""

import re

import pytest
from tests.features.identity.made import Server
from tests.storage.test_resources import a_resource

from pegboard.access import Policy, Switches, decide
from pegboard.access.namesakes import Namesakes
from pegboard.access.visibility import ResourceIndex
from pegboard.core.decision import Action
from pegboard.core.principal import LOCAL
from pegboard.core.tool import Effect, ToolSpec
from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest
from pegboard.features.identity.api_keys import MAX_KEYS
from pegboard.features.identity.callers import KNOWN_FOR
from pegboard.storage import MemoryStorage
from pegboard.testing import FakeClock

OWN = ("/tools:read", "/tools:write")
"""What a key allows for tools of one's own."""


async def test_a_key_acts_for_its_person_and_is_stored_as_a_digest(
    server: Server, storage: MemoryStorage
) -> None:
    await server.found()
    bob = await server.invite("bob", roles=("approver",))

    scopes = ("approvals:decide",)
    made = await server.identity.keys.make("nightly", scopes=scopes, principal=bob)

    caller = (await server.caller_of(key=made.key)).principal
    assert (caller.user, caller.kind, caller.scopes) == (bob.user, "key", bob.scopes)
    assert made.key not in repr(await storage.identity.keys(bob.user))
    assert made.key.startswith(made.stored.hint)


@pytest.mark.parametrize(
    ("person", "scopes", "found"),
    [
        pytest.param("ada", ("runs:all",), {"runs:all"}, id="of an operator"),
        pytest.param("amy", ("people:write",), {"acme/people:write"}, id="of an administrator"),
        pytest.param(
            "amy", ("runs:all", "*"), {"acme/people:write", "acme/tools:read", *OWN}, id="all"
        ),
        pytest.param(
            "ada",
            ("*",),
            {"*", "acme/people:write", "acme/tools:read", "acme/tools:write"},
            id="all of an operator",
        ),
        pytest.param(
            "amy",
            ("approvals:decide", "*"),
            {"acme/approvals:decide", "acme/people:write", "acme/tools:read", *OWN},
            id="all, and approvals",
        ),
        pytest.param("amy", ("runs:all",), set[str](), id="more than the person's"),
        pytest.param("amy", (), set[str](), id="none"),
    ],
)
async def test_a_key_narrows_the_rights_of_its_person(
    server: Server, person: str, scopes: tuple[str, ...], found: set[str]
) -> None:
    await server.found()
    await server.invite("amy", roles=("administrator",))

    made = await server.identity.keys.make(
        "ci", scopes=scopes, principal=await server.caller(person)
    )

    assert (await server.caller_of(key=made.key)).principal.scopes == found


@pytest.mark.parametrize("role", ["member", "approver", "administrator"])
@pytest.mark.parametrize(
    ("scopes", "allowed"), [(("*",), [True, True]), (("tools:read",), [True, False])]
)
async def test_a_key_calls_ones_own_tools_which_need_no_role(
    server: Server, role: str, scopes: tuple[str, ...], allowed: list[bool]
) -> None:
    await server.found()
    await server.invite("amy", roles=(role,))
    amy = await server.caller("amy")
    made = await server.identity.keys.make("ci", scopes=scopes, principal=amy)
    caller = (await server.caller_of(key=made.key)).principal
    index = ResourceIndex()
    index.use([a_resource(owner=amy.user)], [])
    policy = Policy().bind(Namesakes(), resources=index)

    for source in ("ada--github", "shop"):  # her own, and one of the operator
        decisions = [
            decide(
                caller,
                ToolSpec(name="act", source=source, effect=effect, input_schema={}),
                Action.CALL,
                policy=policy,
                switches=Switches(),
            )
            for effect in (Effect.READ, Effect.WRITE)
        ]
        if source == "shop":
            assert decisions[1].rule == "roles"
        else:
            assert [it.allowed for it in decisions] == allowed


async def test_a_revoked_key_ends_here_at_once_and_elsewhere_within_a_second(
    server: Server, other: Server, clock: FakeClock
) -> None:
    await server.found()
    ada = await server.caller("ada")
    made = await server.identity.keys.make("ci", principal=ada)
    await server.caller_of(key=made.key)
    await other.caller_of(key=made.key)

    await server.identity.keys.revoke(made.stored.id, principal=ada)

    assert await server.identify(key=made.key) == "wrong_token"
    clock.advance(KNOWN_FOR)
    assert await other.identify(key=made.key) == "wrong_token"


async def test_a_key_expires(server: Server, clock: FakeClock) -> None:
    await server.found()
    made = await server.identity.keys.make("ci", lifetime=60, principal=await server.caller("ada"))
    assert (await server.caller_of(key=made.key)).principal.user == "local"

    clock.advance(60)

    assert await server.identify(key=made.key) == "wrong_token"


async def test_the_last_use_of_a_key_is_shown_and_survives_its_revocation(
    server: Server, clock: FakeClock
) -> None:
    await server.found()
    ada = await server.caller("ada")
    made = await server.identity.keys.make("ci", principal=ada)
    clock.advance(5)
    used_at = clock.time()
    await server.caller_of(key=made.key)
    clock.advance(5)
    await server.identity.keys.revoke(made.stored.id, principal=ada)

    (key,) = await server.identity.keys.list(principal=ada)
    assert (key.used_at, key.revoked_at) == (used_at, clock.time())


async def test_a_caller_is_not_read_again_for_each_request(
    server: Server, storage: MemoryStorage, clock: FakeClock
) -> None:
    await server.found()
    made = await server.identity.keys.make("ci", principal=await server.caller("ada"))
    await server.caller_of(key=made.key)
    await storage.identity.update_key(made.stored.id, {"revoked_at": clock.time()})

    assert (await server.caller_of(key=made.key)).principal.user == "local"


async def test_a_key_makes_no_keys(server: Server) -> None:
    await server.found()
    made = await server.identity.keys.make("ci", scopes=(), principal=await server.caller("ada"))
    caller = (await server.caller_of(key=made.key)).principal

    with pytest.raises(AccessDenied):
        await server.identity.keys.make("more", principal=caller)


@pytest.mark.parametrize(
    ("person", "scope", "reason"),
    [
        pytest.param("bob", "nonsense", "known are .*, tools:read, tools:write", id="unknown"),
        pytest.param("bob", "tools:reed", "did you mean 'tools:read'", id="misspelt"),
        pytest.param("ada", "tools:reed", "did you mean 'tools:read'", id="misspelt, operator"),
        pytest.param("bob", "operator", "known are", id="operator"),
        pytest.param("bob", "payments", "known are", id="a tool's"),
        pytest.param("bob", "/tools:write", "in no organisation ''", id="one's own"),
        pytest.param("bob", "acme/*", "did you mean", id="all of an organisation"),
        pytest.param(
            "bob", "zoo/people:write", "the account is in no organisation 'zoo'", id="of others"
        ),
    ],
)
async def test_a_key_is_made_with_scopes_that_its_account_can_have(
    server: Server, person: str, scope: str, reason: str
) -> None:
    await server.found()
    await server.invite("bob")
    caller = await server.caller(person)

    with pytest.raises(InvalidRequest, match=rf"with the scope '{re.escape(scope)}': .*{reason}"):
        await server.identity.keys.make("ci", scopes=("*", scope), principal=caller)

    assert await server.identity.keys.list(principal=caller) == []


async def test_scopes_of_one_organisation_and_those_of_tools_are_known(server: Server) -> None:
    await server.found()
    bob, ada = await server.invite("bob"), await server.caller("ada")

    made = await server.identity.keys.make("ci", scopes=["acme/tools:read"], principal=bob)
    of_operator = await server.identity.keys.make("ci", scopes=["payments"], principal=ada)

    assert made.stored.scopes == ("acme/tools:read",)
    assert (await server.caller_of(key=of_operator.key)).principal.scopes == {"payments"}


async def test_a_key_for_less_than_all_sees_and_revokes_itself_alone(server: Server) -> None:
    await server.found()
    ada, keys = await server.caller("ada"), server.identity.keys
    made = {
        scopes: await keys.make("ci", scopes=scopes, principal=ada)
        for scopes in (("*",), ("tools:write",), ("approvals:decide",))
    }
    full, writer, approver = [
        (await server.caller_of(key=item.key)).principal for item in made.values()
    ]
    own = made["tools:write",].stored

    assert len(await keys.list(principal=full)) == 3
    assert [key.id for key in await keys.list(principal=writer)] == [own.id]
    with pytest.raises(AccountNotFound, match=f"There is no key '{own.id}'"):
        await keys.revoke(own.id, principal=approver)
    assert (await keys.revoke(own.id, principal=writer)).revoked_at is not None
    await keys.revoke(made["approvals:decide",].stored.id, principal=full)


async def test_local_has_no_keys(server: Server) -> None:
    assert await server.identity.keys.list(principal=LOCAL) == ()
    with pytest.raises(AccessDenied):
        await server.identity.keys.make("ci", principal=LOCAL)


async def test_a_key_of_somebody_else_is_like_none(server: Server) -> None:
    await server.found()
    made = await server.identity.keys.make("ci", principal=await server.caller("ada"))
    bob = await server.invite("bob")

    for id_ in (made.stored.id, "key_none"):
        with pytest.raises(AccountNotFound, match=f"There is no key '{id_}'"):
            await server.identity.keys.revoke(id_, principal=bob)


async def test_the_number_of_keys_is_limited(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")
    for number in range(MAX_KEYS):
        await server.identity.keys.make(f"key {number}", principal=ada)

    with pytest.raises(InvalidRequest):
        await server.identity.keys.make("one more", principal=ada)


async def test_the_name_of_a_key_hides_no_characters(server: Server) -> None:
    await server.found()

    with pytest.raises(InvalidRequest, match="The name has a character that is not shown"):
        await server.identity.keys.make("ci\u202e", principal=await server.caller("ada"))
