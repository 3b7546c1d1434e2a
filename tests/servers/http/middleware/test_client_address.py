"""The address of a client behind proxies, and what a client forges."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from starlette.datastructures import Headers
from tests.servers.http.made import LOOPBACK, TOKEN, a_board
from tests.servers.http.people import ADA, BOB, House

from pegboard.features.identity.sign_in_limits import MAX_OF_ADDRESS, MAX_OF_BOTH
from pegboard.servers.http.http_connection import OpenConnections
from pegboard.servers.http.middleware.client_address import (
    TrustedProxies,
    UntrustedProxyWarning,
    limit_key,
)

PROXIES = TrustedProxies("10.0.0.0/8, 127.0.0.1, 2001:db8:1::/48")
ANN = "192.0.2.7"


def find(peer: str, *lines: tuple[str, str]) -> str:
    headers = Headers(raw=[(name.lower().encode(), text.encode()) for name, text in lines])
    return PROXIES.find_client(peer, headers)


@pytest.mark.parametrize(
    ("text", "client"),
    [
        pytest.param(ANN, ANN, id="one proxy"),
        pytest.param(f"{ANN}, 10.1.2.3", ANN, id="two proxies"),
        pytest.param(f"198.51.100.1, {ANN}", ANN, id="a forged address"),
        pytest.param(f"198.51.100.1, 10.9.9.9, {ANN}", ANN, id="a forged proxy"),
        pytest.param(f"{ANN}:4711", ANN, id="with a port"),
        pytest.param("[2001:db8:9::7]:4711", "2001:db8:9::7", id="IPv6 with a port"),
        pytest.param("2001:db8:9::7", "2001:db8:9::7", id="IPv6"),
        pytest.param(f"::ffff:{ANN}", ANN, id="IPv4 written as IPv6"),
        pytest.param("10.1.2.3", "10.1.2.3", id="a request of a proxy itself"),
        pytest.param(f"{ANN}, unknown, 10.1.2.3", "10.1.2.3", id="no address further left"),
        pytest.param(f"{ANN}, ' OR 1=1", "127.0.0.1", id="no address at all"),
        pytest.param(f"{ANN},", "127.0.0.1", id="an empty entry"),
        pytest.param("", "127.0.0.1", id="an empty header"),
        pytest.param("9" * 9999, "127.0.0.1", id="a long number"),
        pytest.param("0x7f.1", "127.0.0.1", id="another notation"),
    ],
)
def test_the_client_is_the_first_address_from_the_right_that_is_no_proxy(
    text: str, client: str
) -> None:
    assert find("127.0.0.1", ("X-Forwarded-For", text)) == client


@pytest.mark.parametrize(
    ("text", "client"),
    [
        pytest.param(f"for={ANN};proto=https;by=10.0.0.1", ANN, id="one proxy"),
        pytest.param(f'for={ANN}, For="10.1.2.3:80";host=board.example', ANN, id="two proxies"),
        pytest.param('for="[2001:db8:9::7]:4711"', "2001:db8:9::7", id="IPv6 with a port"),
        pytest.param(f'for=198.51.100.1, for="{ANN}"', ANN, id="a forged element"),
        pytest.param(f'for="198.51.100.1, for={ANN}', ANN, id="a forged open quote"),
        pytest.param(
            f'for={ANN};host="x, for=198.51.100.1"', "127.0.0.1", id="an element in a host"
        ),
        pytest.param(
            f'for={ANN};host="x;for=198.51.100.1"', "127.0.0.1", id="an address in a host"
        ),
        pytest.param(f"for={ANN};for=198.51.100.1", "127.0.0.1", id="two addresses"),
        pytest.param("for=_hidden", "127.0.0.1", id="a hidden client"),
        pytest.param("proto=https", "127.0.0.1", id="no client"),
    ],
)
def test_the_standard_header_is_read_in_the_same_way(text: str, client: str) -> None:
    assert find("127.0.0.1", ("Forwarded", text)) == client


@pytest.mark.parametrize("peer", ["198.51.100.9", "2001:db8:2::1", "", "testclient"])
def test_nobody_but_a_proxy_is_believed(peer: str) -> None:
    assert find(peer, ("X-Forwarded-For", ANN), ("Forwarded", f"for={ANN}")) == peer


def test_a_second_header_that_contradicts_makes_the_request_that_of_the_proxy() -> None:
    sent = ("X-Forwarded-For", ANN)

    assert find("127.0.0.1", sent, ("Forwarded", "for=198.51.100.1")) == "127.0.0.1"
    assert find("127.0.0.1", sent, ("Forwarded", f"for={ANN}")) == ANN


def test_several_lines_of_a_header_are_read_as_one() -> None:
    lines = ("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-For", f"{ANN}, 10.1.2.3")

    assert find("::ffff:10.0.0.1", *lines) == ANN


def test_the_addresses_of_one_network_of_ipv6_count_as_one() -> None:
    keys = {limit_key({"client": (f"2001:db8:9::{number}", 0)}) for number in range(9)}

    assert keys == {"2001:db8:9::/64"}
    assert limit_key({"client": (f"::ffff:{ANN}", 0)}) == ANN
    assert limit_key({}) == ""


@pytest.mark.parametrize(
    ("peer", "header", "warnings"),
    [
        ("127.0.0.1", "x-forwarded-for", 1),
        ("10.0.0.3", "x-forwarded-for", 1),
        ("10.0.0.3", "x-other", 0),
        ("8.8.8.8", "x-forwarded-for", 0),
    ],
)
async def test_a_proxy_that_no_setting_names_is_told_once(
    peer: str, header: str, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    answered: list[Any] = []

    async def answer(scope: Any, _receive: Any, _send: Any) -> None:
        answered.append(scope)

    app = UntrustedProxyWarning(answer)
    scope = {"type": "http", "client": (peer, 1), "headers": [(header.encode(), ANN.encode())]}
    unused: Any = None
    for _ in range(2):
        await app(scope, unused, unused)

    assert len(answered) == 2
    told = [record for record in caplog.records if "TRUSTED_PROXIES" in record.getMessage()]
    assert len(told) == warnings


class _Transport:
    def __init__(self, peer: str) -> None:
        self._peer = peer

    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return self._peer, 0


def test_connections_of_a_proxy_count_in_all_only() -> None:
    limits = OpenConnections(most=5, most_per_address=1, proxies=PROXIES)
    busy: Any = type("Busy", (), {"can_be_dropped": False})()

    assert [limits.admit(_Transport("10.0.0.1"), busy) for _ in range(3)] == [True] * 3
    assert [limits.admit(_Transport(ANN), busy) for _ in range(2)] == [True, False]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    settings: dict[str, Any] = {"trusted_proxies": "127.0.0.1"}
    async with a_board(tmp_path, token=SecretStr(TOKEN), **settings) as board:
        yield House(board)


async def sign_in(house: House, name: str, password: str, *, peer: str, forwarded: str) -> int:
    transport = httpx2.ASGITransport(app=house.app, client=(peer, 4711))
    async with httpx2.AsyncClient(transport=transport, base_url=LOOPBACK) as browser:
        answer = await browser.post(
            "/v1/session",
            json={"name": name, "password": password},
            headers={"X-Forwarded-For": forwarded},
        )
    return answer.status_code


@pytest.mark.timeout(30)
async def test_guesses_of_one_client_of_a_proxy_keep_no_other_from_signing_in(
    house: House,
) -> None:
    ada = await house.found()
    await house.invite(ada)
    for number in range(MAX_OF_ADDRESS):
        forwarded = f"198.51.100.{number}, {ANN}"  # a forged address is not one of its own
        assert await sign_in(house, f"p{number}", "guess", peer="127.0.0.1", forwarded=forwarded)

    right, bob = str(ADA["password"]), str(BOB["password"])
    again = await sign_in(house, "ada", right, peer="127.0.0.1", forwarded=f"192.0.2.9, {ANN}")
    other = await sign_in(house, "bob", bob, peer="127.0.0.1", forwarded="192.0.2.9")

    assert (again, other) == (429, 200)


@pytest.mark.timeout(30)
async def test_a_client_that_is_no_proxy_cannot_choose_its_address(house: House) -> None:
    await house.found()
    statuses = [
        await sign_in(house, "ada", "guess", peer=ANN, forwarded=f"198.51.100.{number}")
        for number in range(MAX_OF_BOTH + 1)
    ]

    assert statuses == [401] * MAX_OF_BOTH + [429]
