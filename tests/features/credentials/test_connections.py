"""Consents that do not end as they began: late, elsewhere, or at another server."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec import structs
from tests.features.credentials.made import (
    ADA,
    BOB,
    Office,
    TokenServer,
    a_target,
    an_office,
    token_server,
)

from pegboard.core.credential import Credential, Secret
from pegboard.core.ports.accounts.credential_store import StoredCredential
from pegboard.core.ports.accounts.credentials import CallerAuth, OAuthSettings
from pegboard.errors import AccessDenied, CredentialMissing, InvalidRequest
from pegboard.features.credentials import CredentialTarget
from pegboard.features.credentials.connections import LIFETIME, Connections, StartedConnection
from pegboard.features.credentials.parts import context_of
from pegboard.secrets import EnvelopeSealer, MemoryKeys
from pegboard.testing import FakeClock

ISSUER = "https://auth.example"


@pytest.fixture
async def server() -> AsyncGenerator[tuple[TokenServer, Office, FakeClock]]:
    clock = FakeClock()
    async with token_server() as (made, http):
        auth = CallerAuth(kinds=("oauth2", "bearer"), oauth=made.oauth(issuer=ISSUER))
        yield made, an_office({"github": a_target(auth=auth)}, clock=clock, http=http), clock


@pytest.fixture
def office(server: tuple[TokenServer, Office, FakeClock]) -> Office:
    return server[1]


def answer_to(started: StartedConnection, **changes: str) -> dict[str, str]:
    (state,) = parse_qs(urlsplit(started.url).query)["state"]
    return {"code": "code-1", "state": state, "iss": ISSUER} | changes


async def finish(office: Office, started: StartedConnection, **changes: str) -> str:
    about = await office.service.connections.finish(
        answer_to(started, **changes), state=started.state, principal=BOB
    )
    return about.id


async def test_a_consent_stores_an_account_and_lets_calls_go_on(
    server: tuple[TokenServer, Office, FakeClock],
) -> None:
    endpoint, office, clock = server
    started = await office.service.connections.start("github", principal=BOB)

    first = await finish(office, started)
    again = await finish(office, await office.service.connections.start("github", principal=BOB))

    (about,) = await office.service.list(principal=BOB)
    assert (about.id, first) == (again, again)
    assert (about.kind, about.is_default, about.expires_at) == (
        "oauth2",
        True,
        clock.time() + 600,
    )
    assert office.settled.told == [("github", "bob")] * 2
    assert endpoint.forms[0]["redirect_uri"] == [
        "http://127.0.0.1:8321/v1/credentials/oauth/callback"
    ]
    assert len(endpoint.forms[0]["code_verifier"][0]) >= 43


@pytest.mark.parametrize("issuer", ["", "https://evil.example"])
async def test_an_answer_of_another_server_is_refused(
    server: tuple[TokenServer, Office, FakeClock], issuer: str
) -> None:
    endpoint, office, _clock = server
    started = await office.service.connections.start("github", principal=BOB)

    with pytest.raises(InvalidRequest, match="Another authorization server"):
        await finish(office, started, iss=issuer)
    assert endpoint.forms == []


async def test_a_consent_that_comes_too_late_is_refused(
    server: tuple[TokenServer, Office, FakeClock],
) -> None:
    _endpoint, office, clock = server
    started = await office.service.connections.start("github", principal=BOB)
    clock.advance(LIFETIME)

    with pytest.raises(InvalidRequest, match="took too long"):
        await finish(office, started)


@pytest.mark.parametrize("state", ["", "e30=", "not base64 at all", "x" * 5000])
async def test_a_forged_state_is_refused(office: Office, state: str) -> None:
    with pytest.raises(InvalidRequest, match="has not begun"):
        await office.service.connections.finish({"code": "c"}, state=state, principal=BOB)


class Found:
    """A discovery that finds these settings, and remembers what it was asked for."""

    def __init__(self, settings: OAuthSettings) -> None:
        self.settings = settings
        self.scopes: list[Sequence[str]] = []
        self.forgotten: list[str] = []

    async def discover(
        self,
        settings: OAuthSettings,
        *,
        redirect_uri: str,
        document: str = "",
        scopes: Sequence[str] = (),
    ) -> OAuthSettings:
        self.scopes.append(scopes)
        wanted = (*self.settings.scopes, *scopes)
        return replace(self.settings, server=settings.server, scopes=wanted)

    async def find_issuer(self, server: str) -> str:
        return self.settings.issuer

    def forget(self, client_id: str) -> None:
        self.forgotten.append(client_id)


def many_scopes(number: int) -> tuple[str, ...]:
    digests = (sha256(str(it).encode()).hexdigest() for it in range(number))
    return tuple(f"https://api.example/auth/{digest[:8]}.read" for digest in digests)


async def a_found_start(number: int) -> tuple[Office, StartedConnection]:
    """A consent for so many scopes, with what discovery has found."""
    settings = OAuthSettings(
        authorization_url=f"{ISSUER}/authorize",
        token_url=f"{ISSUER}/token",
        client_id="board",
        issuer=ISSUER,
        scopes=many_scopes(number),
    )
    auth = CallerAuth(kinds=("oauth2",), oauth=OAuthSettings(server="https://crm.example/mcp"))
    office = an_office(
        {"github": a_target(auth=auth)}, clock=FakeClock(), discovery=Found(settings)
    )
    return office, await office.service.connections.start("github", principal=BOB)


async def test_a_consent_for_many_scopes_fits_into_a_cookie_and_is_found_again() -> None:
    office, started = await a_found_start(100)

    assert len(started.state) < 4_000  # browsers keep no cookie of more than 4096 bytes
    with pytest.raises(InvalidRequest, match="access_denied"):  # which is read after all the rest
        await finish(office, started, code="", error="access_denied")


async def test_a_consent_that_fits_into_no_cookie_is_refused_before_it_begins() -> None:
    with pytest.raises(InvalidRequest, match="name those that are needed"):
        await a_found_start(500)


@pytest.mark.parametrize("is_late", [False, True], ids=["at the consent", "with the code"])
async def test_scopes_that_a_system_does_not_give_are_not_asked_for_again(
    server: tuple[TokenServer, Office, FakeClock], is_late: bool
) -> None:
    endpoint, office, _ = server
    connections: Connections = office.service.connections
    id_ = await finish(office, await connections.start("github", principal=BOB))
    await office.parts.store.update(id_, {"scopes": ("admin",)})
    started = await connections.start("github", principal=BOB)
    endpoint.status, endpoint.answer = 400, {"error": "invalid_scope"}

    with pytest.raises(InvalidRequest, match="invalid_scope"):
        await finish(office, started, **({} if is_late else {"error": "invalid_scope"}))
    again = await connections.start("github", principal=BOB)

    asked = [parse_qs(urlsplit(it.url).query).get("scope") for it in (started, again)]
    assert asked == [["admin"], None]


async def give_scopes(office: Office, id_: str, *scopes: str) -> tuple[str, ...]:
    """An API refuses a call of Bob's that lacks these; what the account lacks then."""
    stored = await office.parts.store.credential(id_)
    assert stored is not None
    with pytest.raises(CredentialMissing):
        await office.resolver.extend(stored, scopes, tool="github__find", principal=BOB)
    known = await office.parts.store.credential(id_)
    return () if known is None else known.about.scopes


def scopes_of(started: StartedConnection) -> list[str]:
    (asked,) = parse_qs(urlsplit(started.url).query).get("scope", [""])
    return asked.split()


async def test_scopes_that_calls_have_lacked_one_after_the_other_are_asked_for_together(
    office: Office,
) -> None:
    connections: Connections = office.service.connections
    id_ = await finish(office, await connections.start("github", principal=BOB))
    for scope in ("read", "write"):
        await give_scopes(office, id_, scope)
        started = await connections.start("github", principal=BOB)
        await finish(office, started)

    assert scopes_of(started) == ["write", "read"]


async def test_further_scopes_are_asked_for_beside_those_that_the_server_gave_by_itself(
    server: tuple[TokenServer, Office, FakeClock],
) -> None:
    endpoint, office, _ = server
    connections: Connections = office.service.connections
    endpoint.answer = {"access_token": "a", "token_type": "Bearer", "scope": "read offline"}
    id_ = await finish(office, await connections.start("github", principal=BOB))
    again = await connections.start("github", principal=BOB)
    await give_scopes(office, id_, "admin")

    assert scopes_of(again) == []
    assert scopes_of(await connections.start("github", principal=BOB)) == [
        "admin",
        "read",
        "offline",
    ]


async def test_a_consent_that_was_not_finished_is_begun_again_without_the_further_scopes(
    server: tuple[TokenServer, Office, FakeClock],
) -> None:
    _endpoint, office, clock = server
    connections: Connections = office.service.connections
    id_ = await finish(office, await connections.start("github", principal=BOB))
    await give_scopes(office, id_, "made-up")

    asked: list[list[str]] = []
    for seconds in (0.0, LIFETIME - 1, 1.0):  # a person may open the link twice
        clock.advance(seconds)
        asked.append(scopes_of(await connections.start("github", principal=BOB)))

    assert asked == [["made-up"], ["made-up"], []]


async def test_a_consent_that_was_finished_keeps_the_further_scopes(
    server: tuple[TokenServer, Office, FakeClock],
) -> None:
    _endpoint, office, clock = server
    connections: Connections = office.service.connections
    id_ = await finish(office, await connections.start("github", principal=BOB))
    await give_scopes(office, id_, "write")
    await finish(office, await connections.start("github", principal=BOB))
    clock.advance(LIFETIME)

    assert scopes_of(await connections.start("github", principal=BOB)) == ["write"]


async def test_an_api_cannot_ask_for_more_scopes_than_a_consent_can_carry(office: Office) -> None:
    connections: Connections = office.service.connections
    id_ = await finish(office, await connections.start("github", principal=BOB))
    digests = [sha256(str(it).encode()).hexdigest() * 3 for it in range(60)]

    kept = await give_scopes(office, id_, *digests)
    later = await give_scopes(office, id_, "read")

    assert kept == tuple(digests[:10])
    assert later == ("read", *digests[:10])  # what was lacked last has its place
    assert (await connections.start("github", principal=BOB)).url


async def test_scopes_that_do_not_fit_into_a_cookie_are_left_out() -> None:
    office, _ = await a_found_start(200)
    found = office.parts.discovery
    assert isinstance(found, Found)
    about = Credential(
        id="c1", owner="bob", source="github", name="default", kind="oauth2", created_at=0.0
    )
    lacking = tuple(sha256(str(it).encode()).hexdigest() for it in range(30))
    about = structs.replace(about, scopes=lacking)
    sealed = office.parts.seal(Secret(access_token="a"), about)
    await office.parts.store.add(StoredCredential(about=about, sealed=sealed))

    await office.service.connections.start("github", principal=BOB)

    assert found.scopes[-2:] == [lacking, ()]


@pytest.mark.parametrize("is_late", [False, True], ids=["at the consent", "with the code"])
@pytest.mark.parametrize("is_registered", [True, False])
async def test_a_client_that_its_server_has_forgotten_is_registered_again_for_newcomers(
    is_late: bool, is_registered: bool
) -> None:
    async with token_server() as (endpoint, http):
        found = Found(endpoint.oauth(issuer=ISSUER, is_registered=is_registered))
        auth = CallerAuth(kinds=("oauth2",), oauth=OAuthSettings(server="https://crm.example/mcp"))
        targets = {"github": a_target(auth=auth)}
        office = an_office(targets, clock=FakeClock(), http=http, discovery=found)
        started = await office.service.connections.start("github", principal=BOB)
        endpoint.status, endpoint.answer = 401, {"error": "invalid_client"}

        with pytest.raises(InvalidRequest, match="_client"):
            await finish(office, started, **({} if is_late else {"error": "unauthorized_client"}))

    assert found.forgotten == (["board"] if is_registered else [])


async def test_an_account_is_connected_again_after_the_master_key_was_lost() -> None:
    office, _ = await a_found_start(1)
    about = Credential(
        id="c1",
        owner="bob",
        source="github",
        name="default",
        kind="oauth2",
        created_at=0.0,
        state="reconnect",
    )
    sealed = EnvelopeSealer(MemoryKeys()).seal(b"{}", context=context_of(about))
    await office.parts.store.add(StoredCredential(about=about, sealed=sealed))

    assert (await office.service.connections.start("github", principal=BOB)).url


async def test_another_account_of_the_same_name_is_another_account() -> None:
    async with token_server() as (endpoint, http):
        oauth = endpoint.oauth(issuer=ISSUER, userinfo_url=f"http://{endpoint.authority}/me")
        targets = {"github": a_target(auth=CallerAuth(kinds=("oauth2",), oauth=oauth))}
        office = an_office(targets, clock=FakeClock(), http=http)
        accounts: list[tuple[str, str]] = []
        for subject in ("s1", "s2", "s1"):
            endpoint.answer = {"access_token": "a", "name": "Anna Berg", "sub": subject}
            await finish(office, await office.service.connections.start("github", principal=BOB))
            (about,) = await office.service.list(principal=BOB)
            accounts.append((about.identity, about.account))

    assert {identity for identity, _ in accounts} == {"Anna Berg"}
    assert accounts[0] == accounts[2] != accounts[1]


async def test_another_session_or_caller_does_not_finish_it(office: Office) -> None:
    connections: Connections = office.service.connections
    started = await connections.start("github", session="one", principal=BOB)
    answer = answer_to(started)

    with pytest.raises(AccessDenied, match="another caller"):
        await connections.finish(answer, state=started.state, session="other", principal=BOB)
    with pytest.raises(AccessDenied, match="another caller"):
        await connections.finish(answer, state=started.state, session="one", principal=ADA)


async def test_only_an_operator_connects_a_shared_account(office: Office) -> None:
    with pytest.raises(AccessDenied, match="shares a credential"):
        await office.service.connections.start("github", shared=True, principal=BOB)

    assert (await office.service.connections.start("github", shared=True, principal=ADA)).url


async def test_a_link_is_given_once_a_server_answers(office: Office) -> None:
    target = office.parts.find_target("github")
    assert target is not None
    before = office.service.connections.link_for(target, "bob")
    office.service.connections.serve()

    assert before == ""
    assert office.service.connections.link_for(target, "bob") == (
        "http://127.0.0.1:8321/v1/credentials/oauth/connect?source=github&for=bob"
    )
    assert office.service.connections.link_for(a_target(), "bob") == ""


@pytest.mark.parametrize(("name", "end"), [("", ""), ("default", ""), ("at work", "&name=at+work")])
async def test_a_link_names_the_account_that_is_to_be_connected(
    office: Office, name: str, end: str
) -> None:
    office.service.connections.serve()

    link = office.service.connections.link_to("github", "bob", name=name)

    assert link.partition("&for=bob")[2] == end


OWN = "https://id.example"


def a_target_of_eve(*, is_vetted: bool = False, **changes: str) -> CredentialTarget:
    fields: dict[str, Any] = {
        "authorization_url": f"{OWN}/auth",
        "token_url": f"{OWN}/token",
    } | changes
    auth = CallerAuth(kinds=("oauth2",), oauth=OAuthSettings(client_id="eve", **fields))
    return a_target("crm", auth=auth, owner="eve", is_vetted=is_vetted)


@pytest.mark.parametrize(
    "token_url",
    ["https://evil.example/token", "https://id.example.evil.example/t", "http://id.example/token"],
)
async def test_a_persons_connector_sends_no_code_to_another_server(token_url: str) -> None:
    mixed = a_target_of_eve(token_url=token_url)
    vetted = a_target_of_eve(token_url=token_url, is_vetted=True)

    connections = an_office({"crm": mixed}, clock=FakeClock()).service.connections
    with pytest.raises(InvalidRequest, match="at different servers"):
        await connections.start("crm", principal=BOB)
    office = an_office({"crm": vetted}, clock=FakeClock())
    assert (await office.service.connections.start("crm", principal=BOB)).url.startswith(OWN)


async def test_a_persons_connector_has_a_redirect_uri_of_its_own() -> None:
    office = an_office({"crm": a_target_of_eve()}, clock=FakeClock())
    started = await office.service.connections.start("crm", principal=BOB)

    assert parse_qs(urlsplit(started.url).query)["redirect_uri"] == [
        "http://127.0.0.1:8321/v1/credentials/oauth/callback/crm"
    ]


async def test_a_connector_that_is_changed_during_the_consent_gets_no_code() -> None:
    targets = {"crm": a_target_of_eve()}
    office = an_office(targets, clock=FakeClock())
    started = await office.service.connections.start("crm", principal=BOB)
    targets["crm"] = a_target_of_eve(
        authorization_url="https://evil.example/a", token_url="https://evil.example/t"
    )

    with pytest.raises(InvalidRequest, match="changed meanwhile"):
        await finish(office, started)
