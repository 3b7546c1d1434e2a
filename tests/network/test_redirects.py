import asyncio

import pytest
from tests.network.loopback import Answer, Received, always, client_for, reply, serving

from pegboard.core.ports.http import HttpRequest
from pegboard.errors import InvalidRequest

SECRETS = {"Authorization": "Bearer s", "Cookie": "c=1", "X-Api-Key": "k", "Accept": "text/html"}


def redirecting(status: int, location: str) -> Answer:
    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        if received.path == "/end":
            writer.write(reply(b"" if received.method == "HEAD" else b"end"))
        else:
            body = b"" if received.method == "HEAD" else b"moved"
            writer.write(reply(body, status=status, headers={"Location": location}))

    return answer


@pytest.mark.parametrize(
    ("status", "method", "becomes", "body"),
    [
        (301, "GET", "GET", None),
        (301, "POST", "GET", None),
        (302, "POST", "GET", None),
        (302, "PUT", "PUT", b"{}"),
        (303, "POST", "GET", None),
        (303, "PUT", "GET", None),
        (303, "HEAD", "HEAD", None),
        (307, "POST", "POST", b"{}"),
        (308, "PATCH", "PATCH", b"{}"),
    ],
)
async def test_the_method_and_the_body_follow_the_standard(status, method, becomes, body) -> None:
    content = {"POST": b"{}", "PUT": b"{}", "PATCH": b"{}"}.get(method)
    described = {"Content-Type": "application/json"} if content else {}

    async with serving(redirecting(status, "/end")) as server, client_for(server) as client:
        response = await client.send(
            HttpRequest(
                method=method,
                url=f"http://{server.authority}/start",
                headers=SECRETS | described,
                content=content,
            )
        )

    last = server.requests[-1]
    assert (last.method, last.path, last.body) == (becomes, "/end", body or b"")
    assert ("content-type" in last.headers) is (body is not None)
    assert last.headers["authorization"] == "Bearer s"
    assert response.url == f"http://{server.authority}/end"


async def test_another_origin_gets_no_credentials() -> None:
    async with serving(always(reply(b"end"))) as other:
        onward = redirecting(302, f"http://{other.authority}/end")
        async with serving(onward) as server, client_for(server, other) as client:
            response = await client.send(
                HttpRequest(method="GET", url=f"http://{server.authority}/", headers=SECRETS)
            )

    received = other.requests[0].headers
    assert response.content == b"end"
    assert received.keys() == {"host", "accept", "accept-encoding", "user-agent"}
    assert received["accept"] == "text/html"


async def test_another_origin_gets_no_body() -> None:
    async with serving(always(reply())) as other:
        onward = redirecting(307, f"http://{other.authority}/end")
        async with serving(onward) as server, client_for(server, other) as client:
            with pytest.raises(InvalidRequest, match="redirects the request and its body"):
                await client.send(
                    HttpRequest(
                        method="POST", url=f"http://{server.authority}/", content=b"card number"
                    )
                )

    assert other.connections == 0


async def test_ten_redirects_are_followed_and_no_more() -> None:
    async with serving(redirecting(302, "/again")) as server, client_for(server) as client:
        with pytest.raises(InvalidRequest, match="more than 10 times"):
            await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert (len(server.requests), server.connections) == (11, 1)


async def test_a_redirect_is_given_back_to_who_does_not_want_to_follow() -> None:
    async with serving(redirecting(302, "/end")) as server, client_for(server) as client:
        response = await client.send(
            HttpRequest(method="GET", url=f"http://{server.authority}/", follow_redirects=False)
        )

    assert (response.status, response.content) == (302, b"moved")
    assert response.headers["location"] == "/end"


async def test_a_redirect_status_without_a_location_is_an_answer() -> None:
    raw = reply(b"not modified", status=302)

    async with serving(always(raw)) as server, client_for(server) as client:
        response = await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))

    assert (response.status, response.content) == (302, b"not modified")


async def test_a_redirect_that_is_not_http_is_refused() -> None:
    onward = redirecting(302, "file:///etc/passwd")

    async with serving(onward) as server, client_for(server) as client:
        with pytest.raises(InvalidRequest, match="must start with http"):
            await client.send(HttpRequest(method="GET", url=f"http://{server.authority}/"))
