"""Signing in at an identity provider: what it answers is checked, and used once."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from msgspec import json
from tests.features.identity.made import HOME, PASSWORD, Server

from pegboard.core.ports.accounts.identity_store import PersonChange
from pegboard.core.ports.http import HttpRequest, HttpResponse
from pegboard.errors import SignInRefused, Unavailable
from pegboard.features.identity.oidc_provider import OidcProvider, OidcSettings, is_safe_address
from pegboard.features.identity.oidc_sign_in import FLOW_LIFETIME, OidcSignIns
from pegboard.storage import MemoryStorage
from pegboard.testing import FakeClock

ISSUER = "https://id.example"
CALLBACK = "https://board.example/v1/session/oidc/callback"
KEY, OTHER_KEY = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))


class Provider:
    """An `HttpClient` that answers as an identity provider."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.claims: dict[str, Any] = {"sub": "7", "preferred_username": "Eve.Nt"}
        self.header: dict[str, Any] = {"kid": "k1"}
        self.key: Any = KEY
        self.published = KEY
        self.algorithm = "ES256"
        self.metadata: dict[str, Any] = {}
        self.told: Any = {}
        self.told_status = 200
        self.refusal: tuple[int, Any] | None = None
        self.bearers: list[str] = []
        self.codes = {"good"}
        self.forms: list[dict[str, str]] = []
        self.nonce = ""
        self._now = now

    async def send(self, request: HttpRequest) -> HttpResponse:
        status, body = self._answer(request)
        return HttpResponse(status=status, url=request.url, headers={}, content=json.encode(body))

    def stream(self, request: HttpRequest) -> Any:
        raise NotImplementedError(request)

    async def close(self) -> None: ...

    def _answer(self, request: HttpRequest) -> tuple[int, Any]:
        match urlsplit(request.url).path:
            case "/.well-known/openid-configuration":
                return 200, self._describe()
            case "/keys":
                public = ECAlgorithm.to_jwk(self.published.public_key(), as_dict=True)
                return 200, {"keys": [{**public, "kid": "k1", "use": "sig", "alg": "ES256"}]}
            case "/token":
                form = dict(parse_qsl((request.content or b"").decode()))
                self.forms.append(form)
                if self.refusal is not None:
                    return self.refusal
                if form["code"] not in self.codes:
                    return 400, {"error": "invalid_grant"}
                self.codes.discard(form["code"])
                return 200, {"id_token": self._sign(), "access_token": "a"}
            case "/userinfo":
                self.bearers.append(request.headers["authorization"])
                return self.told_status, self.told
            case _:
                return 404, {}

    def _describe(self) -> Mapping[str, Any]:
        return {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/auth",
            "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/keys",
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }

    def _sign(self) -> str:
        now = self._now()
        known = {"iss": ISSUER, "aud": "board", "iat": now, "exp": now + 60, "nonce": self.nonce}
        claims = {name: it for name, it in (known | self.claims).items() if it is not None}
        return jwt.encode(claims, self.key, algorithm=self.algorithm, headers=self.header)


class Flow:
    """One server whose newcomers join Acme, and its provider."""

    def __init__(self, server: Server, storage: MemoryStorage, clock: FakeClock) -> None:
        del storage
        import time

        self.server, self.provider = server, Provider(time.time)  # PyJWT reads the real clock
        self.settings = OidcSettings(
            issuer=ISSUER, client_id="board", client_secret="s", organisation="acme"
        )
        self.clock = clock
        self.use(self.settings)

    def use(self, settings: OidcSettings) -> None:
        provider = OidcProvider(settings, self.provider, monotonic=self.clock.monotonic)
        identity = self.server.identity
        self.oidc = OidcSignIns(identity.parts, identity.sign_ins, provider)

    async def begin(
        self, principal: Any = None, credential: str = ""
    ) -> tuple[str, dict[str, str]]:
        """The cookie, and what the provider sends the browser back with."""
        if principal is not None and not credential:
            sessions = await self.server.identity.parts.store.sessions(principal.user)
            credential = f"session:{principal.user}:{sessions[-1].name}"
        flow = await self.oidc.begin(CALLBACK, principal=principal, credential=credential)
        asked = {name: values[0] for name, values in parse_qs(urlsplit(flow.url).query).items()}
        assert asked["redirect_uri"] == CALLBACK
        assert asked["code_challenge_method"] == "S256"
        self.provider.nonce = asked["nonce"]
        self.provider.codes.add("good")
        return flow.cookie, {"state": asked["state"], "code": "good", "iss": ISSUER}

    async def sign_in(self, principal: Any = None) -> Any:
        cookie, answer = await self.begin(principal)
        session = await self.oidc.finish(cookie, answer)
        return (await self.server.caller_of(cookie=session.cookie)).principal


@pytest.fixture
async def flow(server: Server, storage: MemoryStorage, clock: FakeClock) -> Flow:
    await server.found()
    return Flow(server, storage, clock)


async def test_a_newcomer_gets_an_account_that_waits_and_the_same_one_again(flow: Flow) -> None:
    first, again = await flow.sign_in(), await flow.sign_in()

    user = await flow.server.identity.accounts.find(first)
    assert user is not None
    assert (user.handle, user.email, user.password) == ("event", "", "")
    assert (first.id, first.organisations, first.scopes) == (again.id, set(), set())
    members = await flow.server.identity.organisations.list_members(
        "acme", principal=await flow.server.caller("ada")
    )
    waiting = [it.user.handle for it in members if it.membership.state == "waiting"]
    assert waiting == ["event"]
    assert "code_verifier" in flow.provider.forms[0]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"claims": {"aud": "another"}}, id="another audience"),
        pytest.param({"claims": {"aud": ["board", "x"]}}, id="several audiences, no party"),
        pytest.param({"claims": {"azp": "another"}}, id="another party"),
        pytest.param({"claims": {"iss": "https://evil.example"}}, id="another issuer"),
        pytest.param({"claims": {"exp": 1}}, id="expired"),
        pytest.param({"claims": {"exp": None}}, id="no expiry"),
        pytest.param({"claims": {"nonce": "another"}}, id="another sign-in"),
        pytest.param({"claims": {"nonce": None}}, id="no nonce"),
        pytest.param({"claims": {"sub": ""}}, id="nobody"),
        pytest.param({"key": OTHER_KEY}, id="another key"),
        pytest.param({"header": {"kid": "k2"}}, id="an unknown key"),
        pytest.param({"header": {"kid": "k1", "typ": "at+jwt"}}, id="another type"),
        pytest.param({"key": "s" * 32, "algorithm": "HS256"}, id="a shared secret"),
        pytest.param({"key": None, "algorithm": "none"}, id="no signature"),
    ],
)
async def test_a_token_that_is_not_for_this_sign_in_is_refused(
    flow: Flow, changes: dict[str, Any]
) -> None:
    cookie, answer = await flow.begin()
    for name, value in changes.items():
        merged = {**flow.provider.claims, **value} if name == "claims" else value
        setattr(flow.provider, name, merged)

    with pytest.raises(SignInRefused):
        await flow.oidc.finish(cookie, answer)

    assert len(await flow.server.identity.accounts.list(principal=await ada(flow))) == 1


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"state": "forged"}, id="a forged state"),
        pytest.param({"state": "\udcff"}, id="a state that is no text"),
        pytest.param({"iss": "https://evil.example"}, id="another provider"),
        pytest.param({"iss": ""}, id="no provider"),
        pytest.param({"code": "guessed"}, id="another code"),
    ],
)
async def test_an_answer_that_is_not_the_provider_s_is_refused(
    flow: Flow, changes: dict[str, str]
) -> None:
    cookie, answer = await flow.begin()

    with pytest.raises(SignInRefused):
        await flow.oidc.finish(cookie, answer | changes)
    with pytest.raises(SignInRefused):  # and the flow is used up
        await flow.oidc.finish(cookie, answer)


async def test_a_flow_ends_once_in_its_own_browser_and_in_time(flow: Flow) -> None:
    cookie, answer = await flow.begin()
    other, _ = await flow.begin()
    with pytest.raises(SignInRefused):
        await flow.oidc.finish(other, answer)
    with pytest.raises(SignInRefused):
        await flow.oidc.finish("", answer)
    flow.provider.nonce = ""
    late, answer = await flow.begin()
    flow.clock.advance(FLOW_LIFETIME)
    with pytest.raises(SignInRefused):
        await flow.oidc.finish(late, answer)
    with pytest.raises(SignInRefused):
        await flow.oidc.finish(cookie, answer)


async def ada(flow: Flow) -> Any:
    return await flow.server.caller("ada")


async def test_an_address_that_is_known_here_links_to_nobody(flow: Flow) -> None:
    flow.provider.claims |= {"email": "ada@acme.example", "email_verified": True}

    caller = await flow.sign_in()

    user = await flow.server.identity.accounts.find(caller)
    assert user is not None
    assert (user.id == "local", user.email) == (False, "")


async def test_a_person_who_has_signed_in_links_the_account_at_the_provider(flow: Flow) -> None:
    linked = await flow.sign_in(await ada(flow))
    later = await flow.sign_in()
    bob = await flow.server.invite("bob")

    with pytest.raises(SignInRefused):
        await flow.sign_in(bob)

    assert (linked.user, later.user) == ("local", "local")


@pytest.mark.parametrize(
    ("email", "verified", "is_in"),
    [
        pytest.param("eve@acme.example", True, True, id="of the domain"),
        pytest.param("eve@acme.example", False, False, id="not verified"),
        pytest.param("eve@acme.example", "true", False, id="not quite verified"),
        pytest.param("eve@evil.example", True, False, id="of another"),
        pytest.param("eve@evil.example@acme.example", True, False, id="of two"),
        pytest.param(None, True, False, id="none"),
    ],
)
async def test_only_verified_addresses_of_the_domains_make_accounts(
    flow: Flow, email: Any, verified: Any, is_in: bool
) -> None:
    flow.use(
        OidcSettings(
            issuer=ISSUER, client_id="board", organisation="acme", domains=("acme.example",)
        )
    )
    flow.provider.claims |= {"email": email, "email_verified": verified}

    try:
        await flow.sign_in()
    except SignInRefused:
        assert not is_in
    else:
        assert is_in


async def test_what_the_token_leaves_out_of_a_newcomer_is_asked_for(flow: Flow) -> None:
    domains = ("acme.example",)
    flow.use(OidcSettings(issuer=ISSUER, client_id="board", organisation="acme", domains=domains))
    flow.provider.metadata = {"userinfo_endpoint": f"{ISSUER}/userinfo"}
    flow.provider.claims = {"sub": "7"}
    flow.provider.told = {
        "sub": "7",
        "name": "Eve",
        "preferred_username": "eve",
        "email": "eve@acme.example",
        "email_verified": True,
    }

    caller = await flow.sign_in()
    again = await flow.sign_in()

    user = await flow.server.identity.accounts.find(caller)
    assert user is not None
    assert (user.handle, user.name, user.email) == ("eve", "Eve", "eve@acme.example")
    assert again.user == caller.user
    assert flow.provider.bearers == ["Bearer a"]  # a person who is known is not asked about


async def test_what_is_told_of_another_person_is_not_taken(flow: Flow) -> None:
    flow.provider.metadata = {"userinfo_endpoint": f"{ISSUER}/userinfo"}
    flow.provider.told = {"sub": "8", "email": "ada@acme.example", "email_verified": True}

    with pytest.raises(SignInRefused, match="another person"):
        await flow.sign_in()


@pytest.mark.parametrize("place", [None, "http://id.example/userinfo"], ids=["none", "no https"])
async def test_a_place_that_cannot_be_asked_for_claims_is_not_asked(
    flow: Flow, place: str | None
) -> None:
    flow.provider.metadata = {"userinfo_endpoint": place}

    caller = await flow.sign_in()

    assert caller.user
    assert flow.provider.bearers == []


@pytest.mark.parametrize("domains", [(), ("acme.example",)], ids=["any", "of a domain"])
@pytest.mark.parametrize(
    ("status", "told"), [(403, {}), (503, {}), (200, "a.signed.token")], ids=["no", "away", "JWT"]
)
async def test_a_newcomer_comes_in_without_further_claims_where_none_are_needed(
    flow: Flow, status: int, told: Any, domains: tuple[str, ...]
) -> None:
    flow.use(OidcSettings(issuer=ISSUER, client_id="board", organisation="acme", domains=domains))
    flow.provider.metadata = {"userinfo_endpoint": f"{ISSUER}/userinfo"}
    flow.provider.told_status, flow.provider.told = status, told

    if domains:
        with pytest.raises(SignInRefused, match="verified no e-mail address"):
            await flow.sign_in()
    else:
        assert (await flow.sign_in()).user


async def test_a_token_does_not_vouch_for_an_address_that_it_does_not_name(flow: Flow) -> None:
    flow.provider.metadata = {"userinfo_endpoint": f"{ISSUER}/userinfo"}
    flow.provider.claims |= {"email_verified": True}
    flow.provider.told = {"sub": "7", "email": "eve@acme.example"}

    user = await flow.server.identity.accounts.find(await flow.sign_in())

    assert user is not None
    assert user.email == ""


async def test_without_an_organisation_for_newcomers_nobody_new_is_let_in(flow: Flow) -> None:
    flow.use(OidcSettings(issuer=ISSUER, client_id="board"))

    with pytest.raises(SignInRefused):
        await flow.sign_in()


async def test_a_key_that_the_provider_publishes_no_more_signs_nobody_in(flow: Flow) -> None:
    await flow.sign_in()
    flow.provider.published = OTHER_KEY
    flow.clock.advance(601.0)

    with pytest.raises(SignInRefused):
        await flow.sign_in()


async def test_a_disabled_person_is_not_signed_in(flow: Flow) -> None:
    caller = await flow.sign_in()
    user = await flow.server.identity.accounts.find(caller)
    assert user is not None
    change = PersonChange(disabled=True)
    await flow.server.identity.accounts.change(user.handle, change, principal=await ada(flow))

    with pytest.raises(SignInRefused):
        await flow.sign_in()


async def test_an_issuer_that_is_written_otherwise_is_told_to_the_operator(flow: Flow) -> None:
    flow.provider.metadata = {"issuer": f"{ISSUER}/"}

    with pytest.raises(Unavailable, match="PEGBOARD_OIDC_ISSUER") as caught:
        await flow.sign_in()

    assert f"'{ISSUER}/'" in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "claims", "told"),
    [
        (
            (401, {"error": "invalid_client", "error_description": "code good"}),
            {},
            "invalid_client",
        ),
        ((401, {"error": ["code good"]}), {}, "it answers 401"),
        ((200, {}), {}, "it answers without an ID token"),
        (None, {"aud": "another"}, "Audience doesn't match"),
    ],
    ids=["client", "nonsense", "no token", "audience"],
)
async def test_the_operator_reads_why_the_provider_has_signed_nobody_in(
    flow: Flow,
    caplog: pytest.LogCaptureFixture,
    answer: tuple[int, Any] | None,
    claims: dict[str, Any],
    told: str,
) -> None:
    flow.provider.claims |= claims
    flow.provider.refusal = answer

    with pytest.raises(SignInRefused):
        await flow.sign_in()

    [record] = [it for it in caplog.records if it.name == "pegboard.identity"]
    assert record.getMessage().startswith(
        "identity: a sign-in through the identity provider failed: "
    )
    assert told in record.getMessage()
    assert "good" not in record.getMessage()


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"issuer": "https://evil.example"}, id="another issuer"),
        pytest.param({"token_endpoint": "http://id.example/token"}, id="a token in clear text"),
        pytest.param({"jwks_uri": 7}, id="no address"),
    ],
)
async def test_a_provider_that_describes_itself_wrongly_is_not_used(
    flow: Flow, metadata: dict[str, Any]
) -> None:
    flow.provider.metadata = metadata

    with pytest.raises(Unavailable):
        await flow.begin()


@pytest.mark.parametrize(
    ("url", "is_safe"),
    [
        ("https://id.example/a", True),
        ("http://127.0.0.1:4000/a", True),
        ("http://id.example/a", False),
        ("http://127.0.0.1.evil.example/", False),
        ("javascript:alert(1)", False),
    ],
)
def test_an_address_is_https_or_of_this_machine(url: str, is_safe: bool) -> None:
    assert is_safe_address(url) is is_safe


async def test_a_session_that_has_ended_links_no_identity(flow: Flow) -> None:
    sign_ins = flow.server.identity.sign_ins
    session = await sign_ins.sign_in("ada", PASSWORD, address=HOME)
    caller = await flow.server.caller_of(cookie=session.cookie)
    cookie, answer = await flow.begin(caller.principal, caller.credential)

    await sign_ins.end(session)

    with pytest.raises(SignInRefused, match="not begun in this browser"):
        await flow.oidc.finish(cookie, answer)
    assert await flow.server.identity.parts.store.find_linked(ISSUER, "7") is None


async def test_a_name_of_the_provider_keeps_no_hidden_characters(flow: Flow) -> None:
    flow.provider.claims |= {"name": "Eve\u202e N.\u200b"}

    user = await flow.server.identity.accounts.find(await flow.sign_in())

    assert user is not None
    assert user.name == "Eve N."
