import asyncio
import threading

import pytest
from tests.network.loopback import always, client_for, reply, serving, until

from pegboard.core.ports.http import HttpClient, HttpRequest
from pegboard.errors import InvalidRequest
from pegboard.network import GuardedClient


async def test_an_answer_is_read_whole() -> None:
    head = b"HTTP/1.1 404 No\r\nContent-Type: text/plain; charset=utf-8\r\nX-A: 1\r\nX-A: 2\r\n"
    raw = head + b"Content-Length: 2\r\n\r\nhi"

    async with serving(always(raw)) as server, client_for(server) as client:
        port: HttpClient = client
        response = await port.send(
            HttpRequest(method="get", url=f"http://{server.authority}/a?b=c#d")
        )

    assert (response.status, response.content, response.truncated) == (404, b"hi", False)
    assert response.url == f"http://{server.authority}/a?b=c"
    assert response.headers["x-a"] == "1, 2"
    assert response.media_type == "text/plain"
    assert (server.requests[0].method, server.requests[0].path) == ("GET", "/a?b=c")


async def test_a_request_carries_its_headers_and_body() -> None:
    async with serving(always(reply())) as server, client_for(server) as client:
        await client.send(
            HttpRequest(
                method="POST",
                url=f"http://{server.authority}/",
                headers={"Content-Type": "application/json", "X-Name": "Ünï "},
                content=b"{}",
            )
        )

    received = server.requests[0]
    assert received.body == b"{}"
    assert received.headers["content-type"] == "application/json"
    assert received.headers["x-name"].encode("latin-1").decode() == "Ünï"
    assert received.headers["host"] == server.authority
    assert received.headers["user-agent"] == "pegboard"


async def test_a_post_without_a_body_says_that_it_has_none() -> None:
    async with serving(always(reply())) as server, client_for(server) as client:
        await client.send(HttpRequest(method="POST", url=f"http://{server.authority}/"))

    assert server.requests[0].headers["content-length"] == "0"


async def test_connections_are_kept_and_used_again() -> None:
    async with serving(always(reply())) as server, client_for(server) as client:
        for _ in range(5):
            await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert (len(server.requests), server.connections) == (5, 1)


async def test_upstreams_do_not_share_connections() -> None:
    async with serving(always(reply())) as server, client_for(server) as client:
        for upstream in ("a", "b", "a", "b"):
            await client.send(
                HttpRequest(method="GET", url=f"http://{server.authority}/", upstream=upstream)
            )

    assert server.connections == 2


async def test_the_oldest_idle_upstream_gives_way_to_new_ones() -> None:
    async with serving(always(reply())) as server, client_for(server) as client:
        for number in [*range(129), 128, 0]:
            await client.send(
                HttpRequest(method="GET", url=f"http://{server.authority}/", upstream=str(number))
            )

    assert server.connections == 130


async def test_each_event_loop_has_its_own_connections() -> None:
    async with serving(always(reply())) as server, client_for(server) as client:
        request = HttpRequest(method="GET", url=f"http://{server.authority}/")

        async def on_another_loop() -> int:
            response = await client.send(request)
            await client.close()
            return response.status

        await client.send(request)
        status = await asyncio.to_thread(asyncio.run, on_another_loop())

    assert (status, server.connections) == (200, 2)


async def test_closing_reaches_connections_of_another_running_loop() -> None:
    async with serving(always(reply())) as server, client_for(server) as client:
        opened, closed = threading.Event(), threading.Event()

        async def on_another_loop() -> None:
            await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))
            opened.set()
            await asyncio.to_thread(closed.wait, 60)

        other = asyncio.create_task(asyncio.to_thread(asyncio.run, on_another_loop()))
        await asyncio.to_thread(opened.wait, 60)
        still_open = server.open
        await client.close()
        await until(lambda: server.open == 0)
        closed.set()
        await other

    assert still_open == 1


async def test_connections_of_a_loop_that_ended_are_forgotten() -> None:
    once = always(reply(headers={"Connection": "close"}))

    async with serving(once) as server, client_for(server) as client:
        request = HttpRequest(method="GET", url=f"http://{server.authority}/")
        statuses = [
            (await asyncio.to_thread(asyncio.run, client.send(request))).status for _ in range(3)
        ]
        await client.send(request)

    assert statuses == [200, 200, 200]


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A": "a\r\nX-B: b"},
        {"X-A": "a\nX-B: b"},
        {"X-A": "a\0b"},
        {"X-A: x\r\nX-B": "b"},
        {"": "b"},
        {"Ä": "b"},
        {"Host": "b.example"},
        {"content-length": "5"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "Upgrade"},
        {"Proxy-Authorization": "x"},
    ],
)
async def test_a_header_that_would_change_the_request_is_refused(headers: dict[str, str]) -> None:
    async with serving(always(reply())) as server, client_for(server) as client:
        with pytest.raises(InvalidRequest, match="header"):
            await client.send(
                HttpRequest(method="GET", url=f"http://{server.authority}/", headers=headers)
            )

    assert server.requests == []


@pytest.mark.parametrize("method", ["", "GET /", "GET\r\n", "CONNECT", "connect", "GÉT"])
async def test_a_method_that_is_none_is_refused(method: str) -> None:
    async with serving(always(reply())) as server, client_for(server) as client:
        with pytest.raises(InvalidRequest, match="method"):
            await client.send(HttpRequest(method=method, url=f"http://{server.authority}/"))

    assert server.connections == 0


async def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(always(reply(b"proxy"))) as proxy, serving(always(reply(b"real"))) as real:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://{proxy.authority}")
        async with client_for(real, proxy) as client:
            response = await client.send(HttpRequest(method="GET", url=f"http://{real.authority}/"))

    assert (response.content, proxy.connections) == (b"real", 0)


async def test_cookies_are_not_kept() -> None:
    raw = reply(headers={"Set-Cookie": "session=of-somebody"})

    async with serving(always(raw)) as server, client_for(server) as client:
        for _ in range(2):
            await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert "cookie" not in server.requests[1].headers


async def test_closing_twice_is_harmless() -> None:
    client = GuardedClient()

    await client.close()
    await client.close()


async def test_headers_are_read_as_utf8_or_else_as_latin1() -> None:
    raw = b"HTTP/1.1 200 OK\r\nX-U: \xc3\xbc\r\nX-L: \xfc\r\nContent-Length: 0\r\n\r\n"

    async with serving(always(raw)) as server, client_for(server) as client:
        response = await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert (response.headers["x-u"], response.headers["x-l"]) == ("ü", "ü")
