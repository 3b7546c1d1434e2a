"""What goes wrong over HTTP, and what the caller is told to check."""

import asyncio
import json
import ssl
from typing import Any

import pytest
from tests.network.loopback import Answer, Received, always, reply, serving
from tests.sources.mcp.opening import by_action, call_of, opened, over_http
from tests.sources.mcp.workshop import server as workshop

from pegboard.core.ports.services import Services
from pegboard.errors import (
    InvalidRequest,
    MCPConnectionError,
    PegboardError,
    RateLimited,
    SourceUnavailable,
    ToolFailed,
    Unavailable,
)
from pegboard.network import GuardedClient, SsrfPolicy
from pegboard.network.pools import tls_context
from pegboard.sources.mcp.transport import guarded_http, transports

JSON = {"content-type": "application/json"}
TOOL = {"name": "buy", "description": "Buy.", "inputSchema": {"type": "object"}}


def _json(body: Any, *, status: int = 200) -> bytes:
    return reply(json.dumps(body).encode(), status=status, headers=JSON)


def _speaking(on_call: Answer, **results: Any) -> Answer:
    """A server of the handshake era, written by hand, that answers calls as a test says."""
    greeting = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "hand", "version": "1"},
    }
    known = {"initialize": greeting, "tools/list": {"tools": [TOOL]}, **results}

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        if received.method != "POST":
            writer.write(reply(status=405))
            return
        message = json.loads(received.body)
        if "id" not in message:
            writer.write(reply(b"", status=202))
        elif message["method"] == "tools/call":
            await on_call(received, writer)
        elif message["method"] in known:
            result = known[message["method"]]
            writer.write(_json({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        else:
            error = {"code": -32601, "message": "unknown"}
            writer.write(_json({"jsonrpc": "2.0", "id": message["id"], "error": error}))

    return answer


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (reply(b"<html>", headers={"content-type": "text/html"}), "answers with a web page"),
        (reply(status=404), "HTTP 404; it is not an MCP endpoint. Check the path"),
        (reply(status=405), "HTTP 405; it is not an MCP endpoint"),
        (reply(status=401), "requires authentication .HTTP 401.; give it a credential"),
        (reply(status=403), "denies access .HTTP 403."),
        (reply(status=500), "failed .HTTP 500."),
        (reply(status=418), "refused the request .HTTP 418."),
        (reply(status=307, headers={"location": "https://b.example/"}), "not followed"),
        (reply(b"{}", headers=JSON), "neither 'result' nor 'error'"),
        (b"nonsense\r\n\r\n", "Check the url"),
    ],
    ids=["html", "404", "405", "401", "403", "500", "418", "redirect", "empty", "nonsense"],
)
async def test_what_is_no_mcp_server_says_what_to_check(raw: bytes, says: str) -> None:
    async with serving(always(raw)) as server:
        url = f"http://{server.authority}/mcp"
        async with opened({"url": url, "transport": "http"}) as source:
            with pytest.raises(MCPConnectionError, match=says):
                await source.tools()


async def test_a_refused_login_names_the_credential_and_never_its_value() -> None:
    async with serving(always(reply(status=401))) as server:
        config = {"url": f"http://{server.authority}/mcp", "auth": {"token": "hush-hush"}}
        async with opened(config) as source:
            with pytest.raises(MCPConnectionError, match=r"credential 'auth\.token'") as caught:
                await source.tools()
        sent = {request.headers.get("authorization") for request in server.requests}

    assert sent == {"Bearer hush-hush"}
    assert "hush" not in str(caught.value)
    assert not caught.value.retryable


async def test_an_address_that_the_guard_refuses_names_the_setting() -> None:
    http = GuardedClient(policy=SsrfPolicy())
    async with opened({"url": "http://127.0.0.1:9/mcp"}, services=Services(http=http)) as source:
        with pytest.raises(MCPConnectionError, match=r"network: \{allow_hosts: \['127.0.0.1:9'\]"):
            await source.tools()
    await http.close()


async def test_a_board_without_network_has_no_servers_over_http() -> None:
    async with opened({"url": "http://127.0.0.1:9/mcp"}, services=Services()) as source:
        with pytest.raises(SourceUnavailable, match="no network"):
            await source.tools()


def _sse(*events: Any) -> bytes:
    body = "".join(f"event: message\ndata: {json.dumps(event)}\n\n" for event in events)
    return reply(body.encode(), headers={"content-type": "text/event-stream"})


@pytest.mark.parametrize(
    ("raw", "kind", "says", "nothing_done"),
    [
        (reply(status=401), MCPConnectionError, "requires authentication", True),
        (reply(status=429, headers={"retry-after": "7"}), RateLimited, "too many requests", False),
        (reply(status=503), Unavailable, "HTTP 503", False),
        (reply(status=500), Unavailable, "HTTP 500", False),
        (reply(status=400), ToolFailed, "HTTP 400", None),
        (_sse(), MCPConnectionError, "broke off before it answered", False),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
            MCPConnectionError,
            "broke off its answer",
            False,
        ),
        (b"", MCPConnectionError, "Cannot reach", False),
        (
            _json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no glue"}}),
            InvalidRequest,
            "no glue",
            None,
        ),
        (
            _json({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "bad"}}, status=400),
            ToolFailed,
            "bad",
            None,
        ),
        (reply(b"[]", headers={"content-type": "image/png"}), ToolFailed, "image/png", None),
        (reply(b"not json", headers=JSON), ToolFailed, "JSON", None),
    ],
    ids=[
        *("401", "429", "503", "500", "400", "sse-end", "cut", "closed", "params", "error"),
        *("type", "garbage"),
    ],
)
async def test_a_call_that_fails_over_http_is_one_typed_error(
    raw: bytes, kind: type[PegboardError], says: str, *, nothing_done: bool | None
) -> None:
    async def fail(received: Received, writer: asyncio.StreamWriter) -> None:
        number = str(json.loads(received.body)["id"]).encode()
        writer.write(raw.replace(b'"id": 1', b'"id": ' + number.ljust(1)))
        if not raw.startswith(b"HTTP") or b"Content-Length: 99" in raw:
            writer.close()

    async with serving(_speaking(fail)) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            tools = await by_action(source)
            before = len(server.requests)
            async with asyncio.timeout(40):
                with pytest.raises(kind, match=says) as caught:
                    await tools["buy"].run({}, call_of())
            bodies = [json.loads(item.body) for item in server.requests[before:] if item.body]

    assert getattr(caught.value, "nothing_done", None) is nothing_done
    # a write is never sent again by itself
    assert [body["method"] for body in bodies].count("tools/call") == 1


async def test_one_failing_request_leaves_others_of_the_same_session_alone() -> None:
    release = asyncio.Event()
    seen: list[int] = []

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        message = json.loads(received.body)
        seen.append(message["id"])
        if len(seen) == 1:
            await release.wait()
            result = {"content": [{"type": "text", "text": "bought"}]}
            writer.write(_json({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        else:
            writer.close()

    async with serving(_speaking(answer)) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            tools = await by_action(source)
            first = asyncio.ensure_future(tools["buy"].run({}, call_of()))
            while not seen:  # noqa: ASYNC110 - the server's side of the same loop
                await asyncio.sleep(0.01)
            with pytest.raises(MCPConnectionError):
                await tools["buy"].run({}, call_of())
            release.set()
            result = await first

    assert result.text == "bought"


async def test_a_session_opens_no_trust_store_and_no_connection_beside_the_guarded_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []
    real = ssl.SSLContext.__new__

    def counting(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made.append(1)
        return real(cls, *args, **kwargs)

    monkeypatch.setattr(ssl.SSLContext, "__new__", counting)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    async with over_http(workshop) as door, opened({"url": door.url}) as source:
        tools = await by_action(source)
        await tools["add"].run({"a": 1, "b": 2}, call_of())

    assert made == []
    assert tls_context is not None
    assert guarded_http
    assert transports


async def test_headers_say_what_call_they_go_with_and_the_board_itself_says_nothing() -> None:
    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        number = json.loads(received.body)["id"]
        result = {"content": [{"type": "text", "text": "bought"}]}
        writer.write(_json({"jsonrpc": "2.0", "id": number, "result": result}))

    headers = {
        "X-Team": "blue",
        "X-Call": "{call.id}",
        "Idempotency-Key": "{call.idempotency_key}",
    }
    async with serving(_speaking(answer)) as server:
        url = f"http://{server.authority}/mcp"
        config = {"url": url, "protocol": "legacy", "headers": headers}
        async with opened(config) as source:
            tools = await by_action(source)
            ctx = call_of(call_id="c-1", idempotency_key="k")
            await tools["buy"].run({}, ctx)
            calls = [item for item in server.requests if b"tools/call" in item.body]
            others = [item for item in server.requests if b"tools/call" not in item.body]
        credential = tools["buy"].spec.credential

    (call,) = calls
    assert (call.headers["x-team"], call.headers["x-call"]) == ("blue", "c-1")
    assert len(call.headers["idempotency-key"]) == 32
    assert {item.headers["x-team"] for item in others} == {"blue"}
    assert not any({"x-call", "idempotency-key"} & item.headers.keys() for item in others)
    assert credential == ""


async def test_no_cookie_of_one_caller_reaches_another() -> None:
    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        message = json.loads(received.body)
        result = {"content": [{"type": "text", "text": received.headers.get("cookie", "none")}]}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        writer.write(reply(body, headers={**JSON, "set-cookie": "who=me"}))

    from tests.sources.mcp.opening import ANN, BOB

    async with serving(_speaking(answer)) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            tools = await by_action(source)
            await tools["buy"].run({}, call_of(ANN))
            bobs = await tools["buy"].run({}, call_of(BOB))

    assert bobs.text == "none"


async def test_an_sse_server_found_at_another_path_is_spoken_to_as_such() -> None:
    """`transport: auto` falls back to the older transport where POST is not taken."""
    async with serving(always(reply(status=405))) as server:
        config = {"url": f"http://{server.authority}/events", "connect_timeout": 60}
        async with opened(config) as source:
            with pytest.raises(MCPConnectionError):
                await source.tools()
        methods = {request.method for request in server.requests}

    assert methods == {"POST", "GET"}


async def test_on_sse_a_request_that_cannot_be_posted_fails_at_once() -> None:
    """All answers come on one stream there, so nothing would ever come for this one."""
    streams: list[asyncio.StreamWriter] = []
    posted: list[str] = []

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        if received.method == "GET":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            writer.write(b"event: endpoint\ndata: /post\n\n")
            streams.append(writer)
            return
        message = json.loads(received.body)
        posted.append(message["method"])
        if message["method"] == "tools/call":
            writer.write(reply(status=500))
            return
        writer.write(reply(b"", status=202))
        results = {
            "initialize": {
                "protocolVersion": "2024-11-05",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "sse", "version": "1"},
            },
            "tools/list": {"tools": [TOOL]},
        }
        if message["method"] in results:
            body = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
            streams[-1].write(f"event: message\ndata: {json.dumps(body)}\n\n".encode())

    async with serving(answer) as server:
        config = {"url": f"http://{server.authority}/sse", "protocol": "legacy"}
        async with opened(config) as source:
            tools = await by_action(source)
            async with asyncio.timeout(40):
                with pytest.raises(Unavailable, match="HTTP 500"):
                    await tools["buy"].run({}, call_of())
                with pytest.raises(Unavailable, match="HTTP 500"):
                    await tools["buy"].run({}, call_of())  # on a new session

    assert posted.count("tools/call") == 2
