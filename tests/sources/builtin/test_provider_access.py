"""What the answers of configured services mean, on tools that use them."""

import asyncio
import json
import time
from typing import Any

import pytest
from tests.network.loopback import Received, reply
from tests.sources.builtin.providers import desk

from pegboard.core.context import ToolContext
from pegboard.core.ports.http import HttpRequest
from pegboard.core.ports.services import Services
from pegboard.errors import (
    InvalidRequest,
    PegboardError,
    RateLimited,
    SourceUnavailable,
    ToolFailed,
    Unavailable,
)
from pegboard.sources.builtin.provider_access import why_no_client
from pegboard.sources.builtin.service_access import limit_time

KEY = "s3cret-k3y-of-provider"
SEARCH = {
    "PEGBOARD_SEARCH_PROVIDER": "tavily",
    "PEGBOARD_SEARCH_URL": "http://{host}/search",
    "PEGBOARD_SEARCH_KEY": KEY,
}
NOTIFY = {"PEGBOARD_NOTIFY_URL": "http://{host}/hooks/s3cret-path", "PEGBOARD_NOTIFY_TOKEN": KEY}
MOVED = reply(status=302, headers={"Location": "http://169.254.169.254/"})
BUSY = reply(status=429, headers={"Retry-After": "7"})
NESTED = b"[" * 100_000


def said(message: str) -> bytes:
    return json.dumps({"error": {"message": message}}).encode()


@pytest.mark.parametrize(
    ("answer", "kind", "retryable", "message"),
    [
        (reply(status=401), SourceUnavailable, False, "(401): the operator must check PEGBOARD_NO"),
        (reply(status=403), SourceUnavailable, False, "(403): the operator must check"),
        (reply(status=404), SourceUnavailable, False, "answered 404: the operator must check"),
        (MOVED, SourceUnavailable, False, "redirects to another address"),
        (
            reply(said("/hooks/s3cret-path is no hook"), status=400),
            InvalidRequest,
            False,
            "refuses the request.",
        ),
        (reply(b"<html>", status=422), InvalidRequest, False, "refuses the request."),
        (BUSY, RateLimited, True, "allows no more requests now."),
        (reply(status=500), Unavailable, False, "answered 500. Whether it took effect is unknown"),
        (reply(status=503), Unavailable, True, "answered 503."),
        (reply(said("a\nb"), status=418), ToolFailed, False, "answered 418."),
        (reply(b"x" * 200_000), ToolFailed, False, "answered with more than 100000 bytes."),
        (b"garbage\r\n\r\n", Unavailable, False, "does not speak HTTP"),
    ],
    ids=lambda value: "" if isinstance(value, bytes | type | bool) else value[:30],
)
async def test_what_an_answer_means_for_a_tool_that_writes(
    answer: bytes, kind: type[PegboardError], retryable: bool, message: str
) -> None:
    async with desk(answer, NOTIFY) as at:
        result = await at.call("send_notification", {"message": "hello"})

    assert isinstance(result.error, PegboardError)
    assert (type(result.error), result.error.retryable) == (kind, retryable)
    assert message in result.text
    assert KEY not in result.text
    assert "s3cret-path" not in result.text
    assert len(at.server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (reply(b"{", status=200), ToolFailed, "did not answer with a JSON object."),
        (reply(b"[]"), ToolFailed, "did not answer with a JSON object."),
        (reply(NESTED), ToolFailed, "did not answer with a JSON object."),
        (reply(b"\xff\xfe"), ToolFailed, "did not answer with a JSON object."),
        (reply(NESTED, status=500), Unavailable, "answered 500."),
        (reply(said("a\r\nb"), status=418), ToolFailed, "answered 418: a b"),
        (reply(said("x" * 9000), status=400), InvalidRequest, "refuses the request: xxxx"),
        (reply(b'{"detail": "too long"}', status=422), InvalidRequest, "request: too long"),
        (reply(b'{"error": [1]}', status=400), InvalidRequest, "refuses the request."),
        (reply(b"x" * 2_000_001), ToolFailed, "answered with more than 2000000 bytes."),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
async def test_what_an_answer_means_for_a_tool_that_reads(
    answer: bytes, kind: type[PegboardError], message: str
) -> None:
    async with desk(answer, SEARCH) as at:
        result = await at.call("web_search", {"query": "a"})

    assert type(result.error) is kind
    assert message in result.text


async def test_a_search_that_fails_for_now_is_repeated_once() -> None:
    answers = [reply(status=500), reply(b'{"results": []}')]

    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(answers.pop(0))

    async with desk(answer, SEARCH) as at:
        result = await at.call("web_search", {"query": "a"})

    assert result.unwrap()["results"] == []
    assert len(at.server.requests) == 2


async def test_a_key_does_not_follow_a_redirect() -> None:
    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        elsewhere = f"http://{received.headers['host']}/stolen"
        writer.write(reply(status=307, headers={"Location": elsewhere}))

    async with desk(answer, SEARCH) as at:
        result = await at.call("web_search", {"query": "a"})

    assert "the operator must check PEGBOARD_SEARCH_URL" in result.text
    assert [request.path for request in at.server.requests] == ["/search"]


async def test_a_service_that_does_not_respond_leaves_a_write_open() -> None:
    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with desk(answer, NOTIFY) as at:
        result = await at.call("send_notification", {"message": "hello"})

    assert isinstance(result.error, Unavailable)
    assert not result.error.retryable
    assert "Whether it took effect is unknown" in result.text


async def test_a_service_that_hangs_is_given_up_before_the_call_ends() -> None:
    async def answer(_: Received, _writer: asyncio.StreamWriter) -> None:
        return None

    async with desk(answer, SEARCH) as at:
        ctx = ToolContext(deadline=time.monotonic() + 0.4)
        result = await at.registry.call("web_search", {"query": "a"}, ctx)

    assert type(result.error) is Unavailable
    assert "did not answer within" in result.text


async def test_a_metadata_address_in_a_setting_is_refused() -> None:
    variables = {"PEGBOARD_NOTIFY_URL": "http://169.254.169.254/latest"}
    async with desk(reply(), variables) as at:
        result = await at.call("send_notification", {"message": "hello"})

    assert type(result.error) is SourceUnavailable
    assert "The address is that of PEGBOARD_NOTIFY_URL." in result.text


def test_without_network_the_reason_is_said() -> None:
    assert "needs an HTTP client" in why_no_client(Services())


def test_a_request_ends_before_its_call() -> None:
    request = HttpRequest(method="GET", url="http://a.example", timeout=30)
    limited: Any = limit_time(request, 10)

    assert limited.timeout == 9.5
    assert limit_time(request, None) is request
