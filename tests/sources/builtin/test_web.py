import asyncio
import contextlib
import gzip
import json
import re
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from tests.network.loopback import Answer, Received, always, client_for, reply, serving

from pegboard import ToolRegistry
from pegboard.core.context import ToolContext
from pegboard.core.health import HealthStatus
from pegboard.core.ports.http import HttpRequest, HttpResponse, HttpStream
from pegboard.core.ports.services import Services
from pegboard.errors import HostUnavailable, InvalidRequest, Overloaded, SourceUnavailable
from pegboard.features.health import BoardHealth
from pegboard.network import GuardedClient, SsrfPolicy
from pegboard.registry.dependencies import VersionedDependencies
from pegboard.sources.builtin.service_access import bind_services
from pegboard.sources.builtin.tools.http_request import http_request
from pegboard.sources.builtin.tools.web_fetch import web_fetch
from pegboard.testing import FakeClock

PAGE = """<!doctype html><html><head><title> The  Shop </title><style>p{color:red}</style></head>
<body><nav><a href="/home">Home</a></nav><h1>Prices</h1><script>alert(1)</script>
<p>Apples cost <b>2 &euro;</b>, see <a href="../list?a=1">the list</a>.</p>
<ul><li>one</li><li>two</li></ul><form><input value="x"><button>Buy</button></form>
<table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>
<img src="data:image/png;base64,AAAA" alt="dot"><a href="javascript:alert(1)">no</a>
<a href="../list?a=1">again</a></body></html>"""


def html(text: str = PAGE, **headers: str) -> bytes:
    return reply(text.encode(), headers={"Content-Type": "text/html; charset=utf-8"} | headers)


async def fetch(answer: bytes | Answer, path: str = "/shop/prices", **arguments: Any) -> Any:
    handler = always(answer) if isinstance(answer, bytes) else answer
    async with serving(handler) as server, client_for(server, max_bytes=10_000_000) as client:
        ctx = ToolContext(deps=Services(http=client, clock=FakeClock()))
        return await web_fetch(f"http://{server.authority}{path}", ctx, **arguments)


async def request(
    answer: bytes, path: str = "/", **arguments: Any
) -> tuple[dict[str, Any], Received]:
    async with serving(always(answer)) as server, client_for(server) as client:
        ctx = ToolContext(deps=Services(http=client))
        result = await http_request(f"http://{server.authority}{path}", ctx, **arguments)
    assert json.loads(str(result.content)) == result.structured
    return result.structured, server.requests[0]


async def test_a_page_is_read_as_markdown() -> None:
    page = await fetch(html())

    assert page["title"] == "The Shop"
    assert page["text"].startswith("[Home](http://127.0.0.1:")
    assert "# Prices" in page["text"]
    assert "Apples cost **2 €**, see [the list](http://127.0.0.1:" in page["text"]
    assert "- one\n- two" in page["text"]
    assert "| 1 | 2 |" in page["text"]
    assert page["next_offset"] is None
    assert page["length"] == len(page["text"])


@pytest.mark.parametrize("unwanted", ["alert(1)", "color:red", "Buy", "base64"])
async def test_scripts_styles_forms_and_inline_images_are_dropped(unwanted: str) -> None:
    page = await fetch(html())

    assert unwanted not in page["text"]


async def test_links_are_listed_once_and_absolute() -> None:
    page = await fetch(html(), links=True)

    texts = [
        (link["text"], link["url"].partition("1:")[2].partition("/")[2]) for link in page["links"]
    ]
    assert texts == [("Home", "home"), ("the list", "list?a=1")]


async def test_the_main_part_is_preferred_when_the_page_says_which_it_is() -> None:
    story = "A long story. " * 20

    page = await fetch(html(f"<body><nav>Menu</nav><main><p>{story}</p></main></body>"))

    assert page["text"] == story.strip()


async def test_a_base_address_is_respected() -> None:
    text = '<head><base href="https://other.example/x/"></head><a href="y">z</a>'

    page = await fetch(html(text), links=True)

    assert page["links"] == [{"text": "z", "url": "https://other.example/x/y"}]


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_a_long_page_is_read_in_parts_that_make_the_whole() -> None:
    paragraphs = "".join(f"<p>Paragraph number {n} says something.</p>" for n in range(200))
    whole = (await fetch(html(paragraphs), max_length=200_000))["text"]
    parts: list[str] = []
    offset: int | None = 0

    async with serving(always(html(paragraphs))) as server, client_for(server) as client:
        ctx = ToolContext(deps=Services(http=client))
        while offset is not None:
            page = await web_fetch(
                f"http://{server.authority}/", ctx, offset=offset, max_length=3000
            )
            parts.append(page["text"])
            offset = page["next_offset"]

    assert len(parts) > 2
    assert "".join(parts) == whole
    assert all(part.endswith("\n") for part in parts[:-1])


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/plain", "plain ü".encode(), "plain ü"),
        ("text/plain; charset=latin-1", "ü".encode("latin-1"), "ü"),
        ("text/plain; charset=nonsense", "ü".encode(), "ü"),
        ("text/plain; charset=zlib_codec", "ü".encode(), "ü"),
        ("application/json", b'{"a": 1}', '{"a": 1}'),
        ("application/rss+xml", b"<rss/>", "<rss/>"),
        ("", b"no type", "no type"),
        ("text/html", b'<meta charset="iso-8859-1"><p>\xfc</p>', "ü"),
    ],
)
async def test_other_texts_are_read_as_they_are(content_type: str, body: bytes, text: str) -> None:
    headers = {"Content-Type": content_type} if content_type else {}

    page = await fetch(reply(body, headers=headers))

    assert page["text"] == text


async def test_a_compressed_page_is_read() -> None:
    raw = reply(
        gzip.compress(PAGE.encode()),
        headers={"Content-Type": "text/html", "Content-Encoding": "gzip"},
    )

    assert (await fetch(raw))["title"] == "The Shop"


async def test_a_redirect_is_followed_and_the_last_address_given() -> None:
    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        moved = reply(status=302, headers={"Location": "/new/"})
        writer.write(html('<a href="x">y</a>') if received.path == "/new/" else moved)

    page = await fetch(answer, links=True)

    assert page["url"].endswith("/new/")
    assert page["links"][0]["url"].endswith("/new/x")


@pytest.mark.parametrize("status", [400, 401, 404, 410, 304])
async def test_a_page_that_is_refused_is_the_callers_mistake(status: int) -> None:
    with pytest.raises(InvalidRequest, match=f"answered {status}"):
        await fetch(reply(status=status))


async def test_a_page_that_later_helps_with_says_when() -> None:
    raw = reply(status=503, headers={"Retry-After": "120"})

    with pytest.raises(HostUnavailable, match="answered 503") as caught:
        await fetch(raw)

    assert caught.value.retry_after == 120


async def test_a_binary_is_no_page() -> None:
    with pytest.raises(InvalidRequest, match="application/pdf, 4 bytes"):
        await fetch(reply(b"%PDF", headers={"Content-Type": "application/pdf"}))


async def test_an_offset_beyond_the_end_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="has 2 characters"):
        await fetch(html("<p>hi</p>"), offset=3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["<div>" * 20_000 + "deep", "<p>" + "a " * 300_000, "<" * 100_000, "<table>" * 3000],
    ids=["deep", "long", "brackets", "tables"],
)
@pytest.mark.timeout(30)
async def test_a_hostile_page_is_read_or_refused_in_time(text: str) -> None:
    started = time.monotonic()

    with contextlib.suppress(InvalidRequest):
        await fetch(html(text))

    assert time.monotonic() - started < 20


async def test_a_request_carries_what_was_asked() -> None:
    answer, sent = await request(
        reply(b'{"ok": [1]}', status=201, headers={"Content-Type": "application/json"}),
        path="/api?x=1#frag",
        method="POST",
        headers={"X-Key": "k"},
        query={"q": "a b", "tags": ["x", "y"], "flag": True},
        json={"name": "Ünï"},
    )

    assert (sent.method, sent.path) == ("POST", "/api?x=1&q=a+b&tags=x&tags=y&flag=true")
    assert json.loads(sent.body) == {"name": "Ünï"}
    assert (sent.headers["x-key"], sent.headers["content-type"]) == ("k", "application/json")
    assert (answer["status"], answer["body"]) == (201, {"ok": [1]})


async def test_a_text_body_is_sent_as_it_is() -> None:
    _, sent = await request(
        reply(), method="PUT", body="a,b\n", headers={"Content-Type": "text/csv"}
    )

    assert (sent.body, sent.headers["content-type"]) == (b"a,b\n", "text/csv")


async def test_a_failed_status_is_an_answer() -> None:
    answer, _ = await request(reply(b"no", status=404, headers={"Content-Type": "text/plain"}))

    assert (answer["status"], answer["body"]) == (404, "no")


async def test_cookies_of_the_answer_stay_out_of_sight() -> None:
    raw = reply(headers={"Set-Cookie": "session=secret", "X-Seen": "yes"})

    answer, _ = await request(raw)

    assert "secret" not in json.dumps(answer)
    assert answer["headers"]["x-seen"] == "yes"


async def test_a_binary_answer_is_an_artifact() -> None:
    raw = reply(b"\x89PNG", headers={"Content-Type": "image/png"})

    async with serving(always(raw)) as server, client_for(server) as client:
        ctx = ToolContext(deps=Services(http=client))
        result = await http_request(f"http://{server.authority}/a/logo.png?v=1", ctx)

    artifact = result.artifacts[0]
    assert (artifact.name, artifact.media_type, artifact.data) == (
        "logo.png",
        "image/png",
        b"\x89PNG",
    )
    assert result.structured["body"] == "image/png, 4 bytes, as an artifact"


@pytest.mark.parametrize("body", [b"{broken", b"[" * 100_000], ids=["broken", "deep"])
async def test_json_that_is_none_is_given_as_text(body: bytes) -> None:
    answer, _ = await request(reply(body, headers={"Content-Type": "application/json"}))

    assert answer["body"] == body.decode()


async def test_two_bodies_are_one_too_many() -> None:
    with pytest.raises(InvalidRequest, match="not both"):
        await http_request(
            "http://a.example/",
            ToolContext(deps=Services(http=GuardedClient())),
            json={},
            body="x",
        )


@pytest.mark.parametrize("tool", [http_request, web_fetch])
async def test_addresses_inside_are_refused(tool: Any) -> None:
    ctx = ToolContext(deps=Services(http=GuardedClient()))

    with pytest.raises(InvalidRequest, match="loopback"):
        await tool("http://127.0.0.1:1/", ctx)


@pytest.mark.parametrize("tool", [http_request, web_fetch])
@pytest.mark.parametrize("deps", [None, "the application's own"])
async def test_without_a_client_the_tool_says_what_to_do(tool: Any, deps: Any) -> None:
    with pytest.raises(SourceUnavailable, match="needs an HTTP client"):
        await tool("http://a.example/", ToolContext(deps=deps))


@pytest.mark.parametrize("tool", [http_request, web_fetch])
async def test_a_host_that_is_away_is_no_trouble_of_the_tools(tool: Any) -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1:1",)))

    with pytest.raises(HostUnavailable, match="refuses the connection") as caught:
        await tool("http://127.0.0.1:1/", ToolContext(deps=Services(http=client)))

    assert caught.value.nothing_done


async def hangs(_: Received, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)
    writer.close()


@pytest.mark.parametrize("tool", [http_request, web_fetch])
async def test_a_host_that_hangs_is_no_trouble_of_the_tools_when_the_caller_waits_no_longer(
    tool: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monotonic = time.monotonic

    async def hangs_long(received: Received, writer: asyncio.StreamWriter) -> None:
        monkeypatch.setattr(time, "monotonic", lambda: monotonic() + 19.7)
        await hangs(received, writer)

    async with serving(hangs_long) as server, client_for(server) as client:
        registry, graph = ToolRegistry(), VersionedDependencies()
        name = registry.add(bind_services(tool, Services(http=client))).spec.name
        health = BoardHealth(registry, clock=FakeClock(), graph=lambda: graph.current)
        registry.environment.emitter.add(health)
        hurry = ToolContext(deadline=time.monotonic() + 20)  # a fair time
        result = await registry.call(name, {"url": f"http://{server.authority}/"}, hurry)

    assert isinstance(result.error, HostUnavailable)
    assert re.search(r"did not answer within (1\d|0)(\.\d+)? s", result.text)
    assert health.own(f"{name}_v1").status is HealthStatus.UNKNOWN


@pytest.mark.parametrize(
    ("method", "is_open"), [("POST", True), ("PATCH", True), ("GET", False), ("PUT", False)]
)
async def test_what_may_have_taken_effect_at_a_host_that_hangs_is_not_offered_again(
    method: str, is_open: bool
) -> None:
    async with serving(hangs) as server, client_for(server) as client:
        registry = ToolRegistry()
        registry.add(bind_services(http_request, Services(http=client)))
        result = await registry.call(
            "http_request",
            {"url": f"http://{server.authority}/", "method": method, "timeout_seconds": 0.2},
        )

    error = result.error
    assert isinstance(error, HostUnavailable)
    assert (error.retryable, "check before you repeat it" in result.text) == (
        not is_open,
        is_open,
    )
    assert ("try again" in result.text) is not is_open


@pytest.mark.parametrize("tool", [http_request, web_fetch])
async def test_a_board_that_cannot_send_blames_no_host(tool: Any) -> None:
    class Busy(Recorder):
        async def send(self, request: HttpRequest) -> HttpResponse:
            raise Overloaded("no thread is free")

    with pytest.raises(Overloaded):
        await tool("http://a.example/", ToolContext(deps=Services(http=Busy())))


class Recorder:
    """An HTTP client that keeps the request; the port allows any."""

    def __init__(self) -> None:
        self.sent: list[HttpRequest] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.sent.append(request)
        headers: Mapping[str, str] = {"content-type": "text/plain"}
        return HttpResponse(status=200, url=request.url, headers=headers, content=b"ok")

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpStream]:
        raise NotImplementedError

    async def close(self) -> None:
        pass


async def test_any_client_of_the_port_will_do() -> None:
    client = Recorder()

    await http_request(
        "http://a.example/", ToolContext(deps=Services(http=client)), timeout_seconds=5
    )

    assert (client.sent[0].timeout, client.sent[0].max_bytes) == (5, 2_000_000)
