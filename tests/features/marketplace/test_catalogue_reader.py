"""Catalogues that are down, slow, huge or endless, read over real connections."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.features.marketplace.made import SHOP, Files, HourGlass, files, listed, weather
from tests.network.loopback import Received, Server, client_for, reply, serving

from pegboard.core.ports.clock import SystemClock
from pegboard.errors import Unavailable
from pegboard.features.marketplace.catalogue_reader import Bounds, CatalogueReader
from pegboard.features.marketplace.entries import Market
from pegboard.testing import FakeClock

Web = tuple[Files, Server, CatalogueReader]


@pytest.fixture
async def web() -> AsyncGenerator[Web]:
    async with files() as (made, server), client_for(server, max_bytes=2**26) as http:
        yield made, server, CatalogueReader(http, FakeClock(), within=60)


def registry(server: Server, path: str = "/v0/servers") -> Market:
    return Market(kind="mcp_registry", name="official", place=f"http://{server.authority}{path}")


def a_file(folder: Path, content: bytes) -> Market:
    (folder / "servers.json").write_bytes(content)
    return Market(kind="mcp_registry", name="file", place="servers.json", base_dir=folder)


async def test_pages_are_read_one_after_the_other(web: Web) -> None:
    made, server, catalogues = web

    async def answer(asked: Received, writer: Any) -> None:
        page = "cursor=2" in asked.path
        said = listed(weather(name=f"a/{'b' if page else 'a'}"), cursor="" if page else "2")
        writer.write(reply(json.dumps(said).encode()))

    async with serving(answer) as paged, client_for(paged) as http:
        stock = await CatalogueReader(http, SystemClock()).read(registry(paged))

    assert [entry.id for entry in stock.entries] == ["a/a", "a/b"]
    assert (stock.status, stock.problem) == ("ok", "")
    assert paged.requests[1].path == "/v0/servers?version=latest&limit=100&cursor=2"
    del made, server, catalogues


async def test_what_was_read_before_it_hung_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    glass = HourGlass()
    monkeypatch.setattr(sys.modules[CatalogueReader.__module__], "asyncio", glass)

    async def answer(asked: Received, writer: Any) -> None:
        if "cursor" in asked.path:
            glass.turn()
            await asyncio.sleep(30)
        writer.write(reply(json.dumps(listed(weather(), cursor="2")).encode()))

    async with serving(answer) as paged, client_for(paged) as http:
        catalogues = CatalogueReader(http, SystemClock(), within=0.3)
        stock = await catalogues.read(registry(paged))

    assert [entry.id for entry in stock.entries] == ["io.github.someone/weather"]
    assert (stock.status, stock.problem) == (
        "degraded",
        "It is incomplete: it took more than 0.3 s.",
    )


async def test_pages_that_never_end_are_left(web: Web) -> None:
    made, server, catalogues = web
    made.documents["/v0/servers"] = listed(weather(), cursor="same")

    stock = await catalogues.read(registry(server))

    assert len(server.requests) == 2
    assert "more than 2 pages, or its pages form a loop" in stock.problem
    assert len(stock.entries) == 1


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        pytest.param(reply(b"no", status=503), "its server answered 503.", id="an error"),
        pytest.param(reply(b"{"), "it is not JSON.", id="half a document"),
        pytest.param(reply(b'"\xff"'), "it is not JSON.", id="no text"),
        pytest.param(reply(b"[" * 100_000), "it is nested too deeply.", id="deep"),
        pytest.param(reply(b"<html>"), "it is not JSON.", id="a page"),
        pytest.param(
            reply(b"{}"), "it is not the list of an MCP registry: it has no", id="another format"
        ),
        pytest.param(
            reply(b"", status=302, headers={"Location": "http://10.0.0.1/x"}),
            "it leads to a private address",
            id="a redirect into the private network",
        ),
        pytest.param(
            reply(b"", status=302, headers={"Location": "file:///etc/passwd"}),
            "must start with http",
            id="a redirect to a file",
        ),
    ],
)
async def test_a_wrong_answer_is_told(web: Web, raw: bytes, problem: str) -> None:
    made, server, catalogues = web
    made.raw["/v0/servers"] = raw

    stock = await catalogues.read(registry(server))
    again = await catalogues.read(registry(server))

    assert stock.status == "failed"
    assert problem in stock.problem
    assert stock.entries == ()
    assert again is stock
    assert len(server.requests) == 1


async def test_a_private_network_is_not_reached() -> None:
    async with files() as (_, server), client_for() as http:
        stock = await CatalogueReader(http, SystemClock()).read(registry(server))

    assert stock.status == "failed"
    assert "127.0.0.1" in stock.problem
    assert server.requests == []


async def test_what_is_too_large_is_not_read(web: Web) -> None:
    made, server, _ = web
    made.documents["/v0/servers"] = listed(weather(), cursor="2")
    made.documents["/other"] = {"x": "y" * 5000}
    async with client_for(server) as http:
        bounds = Bounds(page=4000, size=1000)
        catalogues = CatalogueReader(http, SystemClock(), bounds=bounds)
        many = await catalogues.read(registry(server))
        large = await catalogues.read(registry(server, "/other"))

    assert "it has more than 1,000 bytes" in many.problem
    assert "a page has more than 4,000 bytes" in large.problem


async def test_not_more_entries_than_anybody_reads(web: Web) -> None:
    made, server, _ = web
    servers = [weather(name=f"a/{number}") for number in range(5)]
    made.documents["/v0/servers"] = listed(*servers, cursor="2")
    async with client_for(server) as http:
        catalogues = CatalogueReader(http, SystemClock(), bounds=Bounds(entries=3))
        stock = await catalogues.read(registry(server))

    assert len(stock.entries) == 3
    assert "it has more than 3 entries" in stock.problem


async def test_what_was_left_out_is_counted_by_its_reason(web: Web) -> None:
    made, server, catalogues = web
    made.documents["/v0/servers"] = listed({"name": "one"}, {"name": "two"}, {}, weather())

    stock = await catalogues.read(registry(server))

    reason = "its name is not 'namespace/name'"
    assert dict(stock.skipped) == {reason: 2, "it has no name": 1}
    assert stock.examples == {reason: "one", "it has no name": ""}
    assert stock.status == "ok"


async def test_a_file_is_read_and_a_missing_one_is_told(tmp_path: Path) -> None:
    catalogues = CatalogueReader(None, SystemClock())
    good = a_file(tmp_path, json.dumps(listed(weather())).encode())
    missing = Market(kind="mcp_registry", name="gone", place="gone.json", base_dir=tmp_path)
    folder = Market(kind="mcp_registry", name="folder", place=".", base_dir=tmp_path)
    remote = Market(kind="mcp_registry", name="far", place="https://a.example")

    assert len((await catalogues.read(good)).entries) == 1
    assert "the file cannot be read: No such file" in (await catalogues.read(missing)).problem
    assert "it is a folder" in (await catalogues.read(folder)).problem
    assert (await catalogues.read(remote)).problem == "this board has no network access"


async def test_what_it_said_is_kept_for_a_minute_and_shown_while_it_is_down(web: Web) -> None:
    made, server, _ = web
    clock = FakeClock()
    market = registry(server)
    made.documents["/v0/servers"] = listed(weather())
    async with client_for(server) as http:
        catalogues = CatalogueReader(http, clock)
        first = await catalogues.read(market)
        again = await catalogues.read(market)
        made.raw["/v0/servers"] = reply(b"", status=500)
        clock.advance(61)
        later = await catalogues.read(market)
        catalogues.forget(set())
        anew = await catalogues.read(market)

    assert first is again
    assert (later.status, later.entries) == ("degraded", first.entries)
    assert later.problem == "its server answered 500. The last known entries are shown."
    assert (anew.status, anew.entries) == ("failed", ())


async def test_an_entry_is_looked_up_anew_each_time(web: Web) -> None:
    made, server, catalogues = web
    market = registry(server)
    made.documents["/v0/servers"] = listed(weather())
    await catalogues.read(market)
    made.documents["/v0/servers"] = listed(weather(version="2.0.0"))

    found = await catalogues.find_entry(market, "io.github.someone/weather")
    missing = await catalogues.find_entry(market, "io.github.someone/else")
    made.raw["/v0/servers"] = reply(b"", status=500)

    assert found is not None
    assert (found.version, missing) == ("2.0.0", None)
    assert "search=io.github.someone%2Fweather" in server.requests[1].path
    with pytest.raises(Unavailable, match="'official' cannot be read: its server answered 500"):
        await catalogues.find_entry(market, "io.github.someone/weather")


async def test_a_token_does_not_go_along_a_redirect(web: Web) -> None:
    made, server, catalogues = web
    headers = {"Location": f"http://{server.authority}/list.json"}
    made.raw["/v1/tools"] = reply(b"", status=302, headers=headers)
    place = f"http://{server.authority}"
    market = Market(kind="pegboard", name="hq", place=place, token="t", token_as="${T}")

    stock = await catalogues.read(market)

    assert stock.problem == "its server answered 302."
    assert [item.headers["authorization"] for item in server.requests] == ["Bearer t"]
    assert SHOP not in str(stock)
