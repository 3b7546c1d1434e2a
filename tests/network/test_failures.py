import asyncio
import socket
import struct

import pytest
from tests.network.loopback import always, client_for, let_pass, reply, serving

from pegboard.core.ports.http import HttpRequest
from pegboard.errors import Unavailable
from pegboard.network import GuardedClient, SsrfPolicy


async def test_a_refused_connection_did_nothing() -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=["127.0.0.1"]))

    with socket.socket() as bound:  # it does not listen
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/secret-path?token=secret"
        with pytest.raises(Unavailable, match="refuses the connection") as caught:
            await client.send(HttpRequest(method="POST", url=url, content=b"x"))

    assert caught.value.nothing_done
    assert "secret" not in str(caught.value)


async def test_a_name_that_does_not_resolve_says_so() -> None:
    client = GuardedClient()

    with pytest.raises(Unavailable, match="its name does not resolve") as caught:
        await client.send(HttpRequest(method="GET", url="http://nowhere.example/"))

    assert caught.value.nothing_done


async def test_a_name_without_addresses_says_so() -> None:
    async def resolve(_: str, __: int) -> list[str]:
        return []

    client = GuardedClient(resolver=resolve)

    with pytest.raises(Unavailable, match="its name has no address"):
        await client.send(HttpRequest(method="GET", url="http://nowhere.example/"))


async def test_a_resolver_that_hangs_meets_the_deadline_and_nothing_was_done() -> None:
    async def resolve(_: str, __: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    client = GuardedClient(resolver=resolve, timeout=0.1)

    with pytest.raises(Unavailable, match=r"did not answer within 0\.1 s") as caught:
        await client.send(HttpRequest(method="GET", url="http://slow.example/"))

    assert caught.value.nothing_done


async def test_a_server_that_never_answers_meets_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def silent(_, __) -> None:
        let_pass(41, monkeypatch)
        await asyncio.sleep(60)

    async with serving(silent) as server, client_for(server) as client:
        with pytest.raises(Unavailable, match="did not answer within 40 s") as caught:
            await client.send(HttpRequest(method="POST", url=f"http://{server.authority}/"))

    assert not caught.value.nothing_done


@pytest.mark.parametrize("drip", [b"x", b"X-Filler: y\r\n"], ids=["status line", "headers"])
async def test_a_slow_loris_meets_the_deadline(drip: bytes) -> None:
    async def dripping(_, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" if drip.endswith(b"\n") else b"HTTP/1.1 200 ")
        while not writer.is_closing():
            writer.write(drip)
            await asyncio.sleep(0.01)

    async with serving(dripping) as server, client_for(server) as client:
        with pytest.raises(Unavailable, match=r"did not answer within 0\.3 s"):
            await client.send(
                HttpRequest(method="GET", url=f"http://{server.authority}/", timeout=0.3)
            )


async def test_a_body_that_drips_meets_the_deadline() -> None:
    async def dripping(_, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x")
            await asyncio.sleep(0.01)

    async with serving(dripping) as server, client_for(server) as client:
        with pytest.raises(Unavailable, match="did not answer within"):
            await client.send(
                HttpRequest(method="GET", url=f"http://{server.authority}/", timeout=0.3)
            )


async def test_redirects_share_one_deadline() -> None:
    async def slowly_onward(_, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        writer.write(reply(status=302, headers={"Location": "/"}))

    async with serving(slowly_onward) as server, client_for(server) as client:
        with pytest.raises(Unavailable, match="did not answer within"):
            await client.send(
                HttpRequest(method="GET", url=f"http://{server.authority}/", timeout=0.35)
            )


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "broke off before the end"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "broke off before the end"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000, "does not speak HTTP"),
    ],
    ids=["nothing", "not http", "half a body", "endless headers"],
)
async def test_a_server_that_breaks_the_protocol_is_unavailable(raw: bytes, reason: str) -> None:
    async def rude(_, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        writer.close()

    async with serving(rude) as server, client_for(server) as client:
        with pytest.raises(Unavailable, match=reason) as caught:
            await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert not caught.value.nothing_done


async def test_cancelling_gives_the_connection_back() -> None:
    async def first_silent(received, writer: asyncio.StreamWriter) -> None:
        if received.path == "/silent":
            await asyncio.sleep(60)
        writer.write(reply())

    async with serving(first_silent) as server, client_for(server) as client:
        url = f"http://{server.authority}"
        task = asyncio.create_task(client.send(HttpRequest(method="GET", url=url + "/silent")))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        response = await client.send(HttpRequest(method="GET", url=url + "/"))

    assert response.status == 200


async def test_a_server_that_closed_an_idle_connection_is_asked_on_a_new_one() -> None:
    async def once(_, writer: asyncio.StreamWriter) -> None:
        writer.write(reply())
        await writer.drain()
        writer.close()

    async with serving(once) as server, client_for(server) as client:
        for _ in range(2):
            await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))
            await asyncio.sleep(0.05)

    assert server.connections == 2


async def test_after_an_answer_that_was_cut_the_next_one_is_right() -> None:
    async with serving(always(reply(b"x" * 300_000))) as server, client_for(server) as client:
        url = f"http://{server.authority}/"
        await client.send(HttpRequest(method="GET", url=url, max_bytes=5))
        response = await client.send(HttpRequest(method="GET", url=url))

    assert len(response.content) == 300_000


async def test_an_address_that_takes_no_connection_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pegboard.network.client._CONNECT_SECONDS", 0.2)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(address)
        client = GuardedClient(policy=SsrfPolicy(allow_hosts=["127.0.0.1"]))

        with pytest.raises(Unavailable, match="does not take the connection in time") as caught:
            await client.send(HttpRequest(method="GET", url=f"http://127.0.0.1:{address[1]}/"))

        for each in waiting:
            each.close()
    assert caught.value.nothing_done


async def test_a_connection_that_is_reset_is_unavailable() -> None:
    async def reset(_, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        await writer.drain()
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    async with serving(reset) as server, client_for(server) as client:
        with pytest.raises(Unavailable, match=r"the connection broke|broke off"):
            await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))
