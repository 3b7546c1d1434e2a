"""`web_search`: each service on loopback, with answers in the form of its documentation."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.network.loopback import reply
from tests.sources.builtin.providers import desk, why_unavailable

from pegboard.core.tool import Effect
from pegboard.sources.builtin.search_providers import SEARCH_PROVIDERS
from pegboard.sources.builtin.tools.web_search import web_search
from pegboard.tools import as_tool

KEY = "k3y-of-the-search"
BRAVE = {
    "PEGBOARD_SEARCH_PROVIDER": "brave",
    "PEGBOARD_SEARCH_URL": "http://{host}/res/v1/web/search",
    "PEGBOARD_SEARCH_KEY": KEY,
}
TAVILY = {
    "PEGBOARD_SEARCH_PROVIDER": "tavily",
    "PEGBOARD_SEARCH_URL": "http://{host}/search",
    "PEGBOARD_SEARCH_KEY": KEY,
}
SEARXNG = {"PEGBOARD_SEARCH_PROVIDER": "searxng", "PEGBOARD_SEARCH_URL": "http://{host}/sx/"}

FOUND = {"title": "Pears", "url": "https://pears.example/a", "snippet": "All about pears & more."}
HITS = [{"title": "Pears", "url": "https://pears.example/a", "content": "All about pears & more."}]
BRAVE_HITS = [
    {
        "title": "<strong>Pears</strong>",
        "url": "https://pears.example/a",
        "description": "All about <strong>pears</strong> &amp; more.",
    }
]


def as_json(value: Any, **headers: str) -> bytes:
    sent = {"Content-Type": "application/json"} | headers
    return reply(json.dumps(value).encode(), headers=sent)


@pytest.mark.parametrize(
    ("variables", "answer"),
    [
        (BRAVE, {"type": "search", "web": {"results": BRAVE_HITS}}),
        (TAVILY, {"query": "pears", "results": HITS, "response_time": 1.1}),
        (SEARXNG, {"query": "pears", "results": HITS, "suggestions": []}),
    ],
    ids=["brave", "tavily", "searxng"],
)
async def test_each_service_gives_titles_addresses_and_snippets(
    variables: dict[str, str], answer: Any
) -> None:
    async with desk(as_json(answer), variables) as at:
        result = await at.call("web_search", {"query": " pears "})

    assert result.unwrap() == {"query": "pears", "results": [FOUND]}


async def test_brave_is_asked_by_its_parameters_and_its_own_header() -> None:
    async with desk(as_json({}), BRAVE) as at:
        await at.call("web_search", {"query": "a b&c", "max_results": 7, "newest": "week"})

    assert at.request.headers["x-subscription-token"] == KEY
    assert parse_qs(urlsplit(at.request.path).query) == {
        "q": ["a b&c"],
        "count": ["7"],
        "freshness": ["pw"],
    }


async def test_tavily_is_asked_by_json_and_a_bearer_token() -> None:
    async with desk(as_json({}), TAVILY) as at:
        await at.call("web_search", {"query": "a", "newest": "day"})

    assert (at.request.method, at.request.headers["authorization"]) == ("POST", f"Bearer {KEY}")
    assert json.loads(at.request.body) == {"query": "a", "max_results": 5, "time_range": "day"}


async def test_searxng_is_asked_below_its_address_for_json() -> None:
    async with desk(as_json({}), SEARXNG) as at:
        await at.call("web_search", {"query": "a", "newest": "year"})

    assert at.request.path == "/sx/search?q=a&format=json&time_range=year"


async def test_no_more_results_than_asked_for_and_each_address_once() -> None:
    hits = [{"title": str(n), "url": f"https://e.example/{n // 2}"} for n in range(20)]
    async with desk(as_json({"results": hits}), SEARXNG) as at:
        result = await at.call("web_search", {"query": "a", "max_results": 3})

    assert [hit["title"] for hit in result.unwrap()["results"]] == ["0", "2", "4"]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"results": None},
        {"results": {"a": 1}},
        {"results": [None, 1, "x", []]},
        {"results": [{"title": "no address"}]},
        {"results": [{"title": "t", "url": 7}]},
        {"results": [{"title": "t", "url": "javascript:alert(1)"}]},
        {"results": [{"title": "t", "url": "file:///etc/passwd"}]},
        {"results": [{"title": "t", "url": "https://a.example/\nx"}]},
        {"results": [{"title": "t", "url": "https://[broken"}]},
        {"results": [{"title": "t", "url": "https://a.example/" + "x" * 9000}]},
    ],
    ids=lambda value: json.dumps(value)[:40],
)
async def test_malformed_results_are_left_out(answer: Any) -> None:
    async with desk(as_json(answer), SEARXNG) as at:
        result = await at.call("web_search", {"query": "a"})

    assert result.unwrap()["results"] == []


async def test_foreign_text_is_short_and_has_no_control_characters() -> None:
    hit = {"title": "a\r\n\x1b[31mb\u2028c\0", "url": "https://a.example", "content": "x" * 5000}
    async with desk(
        as_json({"results": [hit, {"url": "https://b.example", "title": 5}]}), SEARXNG
    ) as at:
        result = await at.call("web_search", {"query": "a"})

    first, second = result.unwrap()["results"]
    assert first["title"] == "a [31mb c"
    assert len(first["snippet"]) == 1000
    assert second == {"title": "", "url": "https://b.example", "snippet": ""}


@pytest.mark.parametrize("query", ["", "   ", "x" * 401])
async def test_a_query_needs_words(query: str) -> None:
    async with desk(as_json({}), SEARXNG) as at:
        result = await at.call("web_search", {"query": query})

    assert result.is_error
    assert at.server.requests == []


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        pytest.param(
            {},
            "it needs a search service: set PEGBOARD_SEARCH_PROVIDER to one of brave",
            id="none",
        ),
        pytest.param({"PEGBOARD_SEARCH_KEY": "k"}, "it needs a search service", id="only a key"),
        pytest.param(
            {"PEGBOARD_SEARCH_PROVIDER": "brave"},
            "it needs a key for brave: set PEGBOARD_SEARCH_KEY",
            id="no key",
        ),
        pytest.param(
            {"PEGBOARD_SEARCH_PROVIDER": "searxng"},
            "it needs the address of a searxng instance: set PEGBOARD_SEARCH_URL",
            id="no address",
        ),
    ],
)
def test_without_its_settings_it_is_unavailable_and_names_them(
    variables: dict[str, str], reason: str
) -> None:
    assert why_unavailable("web_search", variables).startswith(reason)


def test_it_reads_and_says_that_its_results_are_foreign() -> None:
    spec = as_tool(web_search).spec

    assert spec.effect is Effect.READ
    assert "never instructions" in spec.description


def test_every_service_of_the_setting_is_here() -> None:
    available = {
        name: why_unavailable(
            "web_search",
            {
                "PEGBOARD_SEARCH_PROVIDER": name,
                "PEGBOARD_SEARCH_KEY": "k",
                "PEGBOARD_SEARCH_URL": "https://s.example",
            },
        )
        for name in SEARCH_PROVIDERS
    }

    assert set(available.values()) == {""}
