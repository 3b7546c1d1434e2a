"""OAuth clients that describe themselves at an address: what is believed of them."""

from typing import Any

import pytest
from msgspec import json
from tests.features.identity.made import Server

from pegboard.core.ports.http import HttpRequest, HttpResponse
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.features.identity.oauth_clients import (
    OAuthClient,
    OAuthClients,
    check_redirects,
    is_client_address,
    matches_redirect,
    read_client,
)
from pegboard.testing import FakeClock

URL = "https://app.example/client.json"
CALLBACK = "https://app.example/callback"
DOCUMENT: dict[str, Any] = {
    "client_id": URL,
    "client_name": "App",
    "redirect_uris": [CALLBACK],
    "token_endpoint_auth_method": "none",
}


class Web:
    """An `HttpClient` with one document."""

    def __init__(self) -> None:
        self.asked: list[HttpRequest] = []
        self.status = 200
        self.is_away = False

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append(request)
        if self.is_away:
            raise Unavailable("away")
        content = json.encode(DOCUMENT)
        return HttpResponse(status=self.status, url=request.url, headers={}, content=content)

    def stream(self, request: HttpRequest) -> Any:
        raise NotImplementedError(request)

    async def close(self) -> None: ...


async def test_a_client_is_known_by_its_address_and_asked_again_later(
    server: Server, clock: FakeClock
) -> None:
    web = Web()
    clients = OAuthClients(server.identity.parts, web, registration=False)

    found = [await clients.find(URL) for _ in range(2)]
    clock.advance(601)
    web.status = 404

    assert found == [OAuthClient(id=URL, name="App", redirects=(CALLBACK,))] * 2
    assert await clients.find(URL) is None
    web.is_away = True
    assert await clients.find(URL) is None
    assert [request.follow_redirects for request in web.asked] == [False] * 3


async def test_strangers_cannot_have_many_addresses_asked(server: Server) -> None:
    web = Web()
    clients = OAuthClients(server.identity.parts, web, registration=False)

    for number in range(1_000):
        await clients.find(f"https://app.example/{number}", asked_from=f"192.0.2.{number % 200}")

    assert len(web.asked) == 600


async def test_one_stranger_does_not_keep_the_clients_of_others_out(server: Server) -> None:
    web = Web()
    clients = OAuthClients(server.identity.parts, web, registration=False)
    for number in range(100):
        await clients.find(f"https://app.example/{number}", asked_from="192.0.2.1")

    found = await clients.find(URL, asked_from="192.0.2.2")

    assert len(web.asked) == 21
    assert found == OAuthClient(id=URL, name="App", redirects=(CALLBACK,))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"client_id": "https://other.example/client.json"}, id="another id"),
        pytest.param({"redirect_uris": []}, id="nowhere to go"),
        pytest.param({"redirect_uris": "https://app.example"}, id="no list"),
        pytest.param({"redirect_uris": ["http://app.example/"]}, id="clear text"),
        pytest.param({"redirect_uris": ["https://[x/"]}, id="no address"),
        pytest.param({"client_secret": "s"}, id="a secret for all to read"),
        pytest.param({"token_endpoint_auth_method": "private_key_jwt"}, id="another method"),
    ],
)
def test_a_document_that_is_wrong_describes_no_client(changes: dict[str, Any]) -> None:
    assert read_client(URL, json.encode(DOCUMENT | changes)) is None
    assert read_client(URL, json.encode(DOCUMENT)) is not None


def test_the_name_of_a_client_keeps_no_hidden_characters() -> None:
    client = read_client(URL, json.encode(DOCUMENT | {"client_name": "Peg\u200bboard\u202e"}))

    assert client is not None
    assert client.name == "Pegboard"


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"null", b"\xff"])
def test_what_is_no_document_describes_no_client(content: bytes) -> None:
    assert read_client(URL, content) is None


@pytest.mark.parametrize(
    ("url", "is_address"),
    [
        (URL, True),
        ("https://app.example/", False),
        ("https://app.example", False),
        ("http://app.example/client.json", False),
        ("https://user@app.example/client.json", False),
        ("https://app.example/client.json#x", False),
        ("https://app.example/../client.json", False),
        ("https://[::1/client.json", False),
        ("https://[x]/client.json", False),
        ("7d1f", False),
    ],
)
def test_the_id_of_a_client_is_an_address_with_a_path(url: str, is_address: bool) -> None:
    assert is_client_address(url) is is_address


@pytest.mark.parametrize(
    "redirect",
    [
        "http://app.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://user@app.example/",
        "https://app.example/#x",
        "https:///x",
        "/callback",
        "http://127.0.0.1.evil.example/",
        "https://[x/",
        "mailto:eve@evil.example",
        "sms:123",
        "intent://evil.example/#Intent;end",
        "view-source:https://app.example/",
    ],
)
def test_people_are_not_sent_just_anywhere(redirect: str) -> None:
    with pytest.raises(InvalidRequest):
        check_redirects((CALLBACK, redirect))


@pytest.mark.parametrize("redirect", [CALLBACK, "http://127.0.0.1:7/c", "com.app:/c", "cursor://x"])
def test_people_are_sent_to_pages_to_their_own_machine_and_to_apps(redirect: str) -> None:
    check_redirects((redirect,))


@pytest.mark.parametrize(
    ("redirect", "known", "matches"),
    [
        pytest.param("http://127.0.0.1:7/c", "http://127.0.0.1/c", True, id="another port"),
        pytest.param("http://127.0.0.1:7/d", "http://127.0.0.1/c", False, id="another path"),
        pytest.param("http://localhost:7/c", "http://127.0.0.1/c", False, id="another name"),
        pytest.param("https://app.example:7/c", "https://app.example/c", False, id="not local"),
        pytest.param("http://x@127.0.0.1/c", "http://127.0.0.1/c", False, id="a user"),
    ],
)
def test_only_the_port_of_ones_own_machine_may_differ(
    redirect: str, known: str, matches: bool
) -> None:
    assert matches_redirect(redirect, known) is matches
