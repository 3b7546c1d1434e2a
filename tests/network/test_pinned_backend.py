import asyncio
import ssl

import pytest
from tests.network.loopback import (
    always,
    client_for,
    let_pass,
    reply,
    serving,
    trusting_context,
    until,
)

from pegboard.core.ports.http import HttpRequest
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.network import GuardedClient, SsrfPolicy
from pegboard.network.pools import tls_context


class Answers:
    """A resolver that gives one answer after the other."""

    def __init__(self, *answers: list[str]) -> None:
        self.left = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, _: int) -> list[str]:
        self.asked.append(host)
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["100.100.100.200"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["fe80::1%eth0"],
        ["8.8.8.8", "10.0.0.1"],
        ["2606:4700:4700::1111", "::1"],
    ],
    ids=",".join,
)
async def test_a_name_is_refused_when_any_address_is_not_public(addresses: list[str]) -> None:
    client = GuardedClient(resolver=Answers(addresses))

    with pytest.raises(InvalidRequest, match=r"Refused to connect to 'a\.example'") as caught:
        await client.send(HttpRequest(method="GET", url="http://a.example/"))

    assert not any(address in str(caught.value) for address in addresses)


@pytest.mark.parametrize(
    ("host", "how"),
    [
        ("10.1.2.3", "on the board: network: {allow_hosts: ['10.1.2.3:80']}."),
        ("[::1]", "on the board: network: {allow_hosts: ['[::1]:80']}."),
        ("169.254.169.254", "Only 'allow_networks' under 'network' of the board can allow it."),
    ],
)
async def test_a_refusal_says_what_the_operator_writes(host: str, how: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await GuardedClient().send(HttpRequest(method="GET", url=f"http://{host}/"))

    assert str(caught.value).endswith(how)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "LOCALHOST.", "0.0.0.0"]
)
async def test_this_machine_is_refused_in_every_form(host: str) -> None:
    async with serving(always(reply())) as server:
        with pytest.raises(InvalidRequest, match="Refused to connect"):
            await GuardedClient().send(
                HttpRequest(method="GET", url=f"http://{host}:{server.port}/")
            )

    assert server.connections == 0


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    resolver = Answers(["127.0.0.1"], ["127.0.0.2"], ["10.0.0.1"])
    client = GuardedClient(
        policy=SsrfPolicy(allow_networks=["127.0.0.1/32"]), resolver=resolver, timeout=40
    )

    async with serving(always(reply(b"the checked one"))) as server:
        response = await client.send(
            HttpRequest(method="GET", url=f"http://rebinding.example:{server.port}/")
        )
        await client.close()

    assert response.content == b"the checked one"
    assert resolver.asked == ["rebinding.example"]
    assert server.requests[0].headers["host"] == f"rebinding.example:{server.port}"


async def test_a_new_connection_is_checked_again() -> None:
    resolver = Answers(["127.0.0.1"], ["10.0.0.1"])
    client = GuardedClient(policy=SsrfPolicy(allow_networks=["127.0.0.1/32"]), resolver=resolver)

    async with serving(always(reply(headers={"Connection": "close"}))) as server:
        request = HttpRequest(method="GET", url=f"http://rebinding.example:{server.port}/")
        await client.send(request)
        with pytest.raises(InvalidRequest, match="private"):
            await client.send(request)


async def test_a_second_address_is_tried_when_the_first_does_not_answer() -> None:
    async with serving(always(reply())) as server:
        client = GuardedClient(
            policy=SsrfPolicy(allow_hosts=["two.example"]), resolver=Answers(["::1", "127.0.0.1"])
        )
        response = await client.send(
            HttpRequest(method="GET", url=f"http://two.example:{server.port}/")
        )
        await client.close()

    assert response.status == 200


async def test_a_redirect_to_a_refused_address_is_refused() -> None:
    async with serving(always(reply(b"inside"))) as inside:
        onward = reply(status=302, headers={"Location": f"http://{inside.authority}/"})
        async with serving(always(onward)) as server, client_for(server) as client:
            with pytest.raises(InvalidRequest, match="loopback"):
                await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert inside.connections == 0


async def test_tls_keeps_the_name_while_the_connection_goes_to_the_address() -> None:
    async with serving(always(reply(b"secret")), tls=True) as server:
        client = GuardedClient(
            policy=SsrfPolicy(allow_hosts=["pinned.test"]),
            resolver=Answers(["127.0.0.1"]),
            tls=trusting_context,
        )
        response = await client.send(
            HttpRequest(method="GET", url=f"https://pinned.test:{server.port}/")
        )
        await client.close()

    assert response.content == b"secret"
    assert server.server_names == ["pinned.test"]


@pytest.mark.parametrize(
    ("host", "context"),
    [("wrong.test", trusting_context), ("pinned.test", ssl.create_default_context)],
    ids=["another name", "unknown issuer"],
)
async def test_a_certificate_that_does_not_fit_is_refused(host: str, context) -> None:
    async with serving(always(reply()), tls=True) as server:
        client = GuardedClient(
            policy=SsrfPolicy(allow_hosts=["*.test"]), resolver=Answers(["127.0.0.1"]), tls=context
        )
        with pytest.raises(Unavailable, match="certificate is not valid") as caught:
            await client.send(HttpRequest(method="GET", url=f"https://{host}:{server.port}/"))

    assert caught.value.nothing_done
    assert server.requests == []


async def test_one_tls_context_serves_all_and_none_is_made_for_plain_http() -> None:
    made: list[ssl.SSLContext] = []

    def counting() -> ssl.SSLContext:
        made.append(trusting_context())
        return made[0]

    async with serving(always(reply())) as plain, serving(always(reply()), tls=True) as secure:
        client = GuardedClient(
            policy=SsrfPolicy(allow_hosts=["*.test", "127.0.0.1"]),
            resolver=Answers(["127.0.0.1"]),
            tls=counting,
        )
        await client.send(HttpRequest(method="GET", url=f"http://{plain.authority}/"))
        before = len(made)
        for host in ("pinned.test", "other.test", "pinned.test"):
            await client.send(HttpRequest(method="GET", url=f"https://{host}:{secure.port}/"))
        await client.close()

    assert (before, len(made)) == (0, 1)
    assert secure.connections == 2


def test_the_process_has_one_tls_context() -> None:
    assert tls_context() is tls_context()
    assert tls_context().verify_mode is ssl.CERT_REQUIRED
    assert tls_context().check_hostname


async def test_an_ipv6_address_stands_in_brackets_in_the_host_header() -> None:
    async with serving(always(reply()), host="::1") as server:
        client = GuardedClient(policy=SsrfPolicy(allow_networks=["::1"]))
        response = await client.send(HttpRequest(method="GET", url=f"http://[::1]:{server.port}/"))
        await client.close()

    assert response.status == 200
    assert server.requests[0].headers["host"] == f"[::1]:{server.port}"


async def test_a_server_without_tls_is_unavailable_by_https() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        client = GuardedClient(policy=SsrfPolicy(allow_hosts=["127.0.0.1"]), tls=trusting_context)
        with pytest.raises(Unavailable, match="no secure connection could be made"):
            await client.send(HttpRequest(method="GET", url=f"https://127.0.0.1:{port}/"))


async def test_a_handshake_that_hangs_meets_the_deadline_and_leaves_no_socket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(always(reply())) as server:
        client = GuardedClient(
            policy=SsrfPolicy(allow_hosts=["127.0.0.1"]), tls=trusting_context, timeout=40
        )
        request = HttpRequest(method="GET", url=f"https://{server.authority}/")
        sending = asyncio.create_task(client.send(request))
        await until(lambda: server.connections == 1)
        let_pass(41, monkeypatch)
        with pytest.raises(Unavailable, match="did not answer within 40 s") as caught:
            await sending
        await until(lambda: server.open == 0)

    assert caught.value.nothing_done
    assert server.connections == 1
