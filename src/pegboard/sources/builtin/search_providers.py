"""The services that `web_search` can ask: how each is asked, and where its results are.

A further one is a class here and a row in `SEARCH_PROVIDERS`, and a value of the setting.
"""

import html
import json
import re
from collections.abc import Mapping
from typing import Any, Protocol, cast
from urllib.parse import urlencode, urlsplit

from typing_extensions import TypedDict

from pegboard.core.ports.http import HttpRequest
from pegboard.core.ports.source_services.providers import SearchAccess
from pegboard.sources.builtin.provider_access import clean_line

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_MAX_TITLE = 300
_MAX_SNIPPET = 1_000
_MAX_URL = 2_000


class SearchQuery(TypedDict):
    """What to search for; `since` is `day`, `week`, `month`, `year` or empty."""

    words: str
    most: int
    since: str


class SearchHit(TypedDict):
    """One result; its text was written by others."""

    title: str
    url: str
    snippet: str


class SearchProvider(Protocol):
    """How a service is asked.

    Attributes:
        needs_key: Whether it takes no request without a key.
        own_url: Where it is; empty for one that everybody runs themselves.
        hint: What else to check when it refuses a request.
    """

    needs_key: bool
    own_url: str
    hint: str

    def request(self, access: SearchAccess, query: SearchQuery) -> HttpRequest:
        """Return the request for a query."""
        ...

    def hits(self, answer: Mapping[str, Any]) -> list[SearchHit]:
        """Return the results of an answer, the best first; what is malformed is left out."""
        ...


class Brave:
    """Brave Search, `GET /res/v1/web/search`."""

    needs_key = True
    own_url = "https://api.search.brave.com/res/v1/web/search"
    hint = ""

    def request(self, access: SearchAccess, query: SearchQuery) -> HttpRequest:
        """Return the request for a query."""
        given = {"q": query["words"], "count": str(query["most"])}
        if query["since"]:
            given["freshness"] = f"p{query['since'][0]}"
        return HttpRequest(
            method="GET",
            url=f"{access.url or self.own_url}?{urlencode(given)}",
            headers={"Accept": "application/json", "X-Subscription-Token": access.key},
        )

    def hits(self, answer: Mapping[str, Any]) -> list[SearchHit]:
        """Return the results of an answer."""
        web: Any = answer.get("web")
        return _hits(
            cast("Any", web).get("results") if isinstance(web, dict) else [], "description"
        )


class Tavily:
    """Tavily, `POST /search`."""

    needs_key = True
    own_url = "https://api.tavily.com/search"
    hint = ""

    def request(self, access: SearchAccess, query: SearchQuery) -> HttpRequest:
        """Return the request for a query."""
        given: dict[str, Any] = {"query": query["words"], "max_results": query["most"]}
        if query["since"]:
            given["time_range"] = query["since"]
        return HttpRequest(
            method="POST",
            url=access.url or self.own_url,
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {access.key}"},
            content=json.dumps(given).encode(),
        )

    def hits(self, answer: Mapping[str, Any]) -> list[SearchHit]:
        """Return the results of an answer."""
        return _hits(answer.get("results"), "content")


class Searxng:
    """A SearXNG instance, `GET /search`, whose settings allow the JSON format."""

    needs_key = False
    own_url = ""
    hint = ", and that 'search.formats' of its settings has 'json'"

    def request(self, access: SearchAccess, query: SearchQuery) -> HttpRequest:
        """Return the request for a query."""
        given = {"q": query["words"], "format": "json"}
        if query["since"]:
            given["time_range"] = query["since"]
        headers = {"Accept": "application/json"}
        if access.key:
            headers["Authorization"] = f"Bearer {access.key}"
        return HttpRequest(
            method="GET",
            url=f"{access.url.rstrip('/')}/search?{urlencode(given)}",
            headers=headers,
        )

    def hits(self, answer: Mapping[str, Any]) -> list[SearchHit]:
        """Return the results of an answer."""
        return _hits(answer.get("results"), "content")


SEARCH_PROVIDERS: Mapping[str, SearchProvider] = {
    "brave": Brave(),
    "tavily": Tavily(),
    "searxng": Searxng(),
}


def _hits(found: Any, snippet: str) -> list[SearchHit]:
    """Return the well-formed results of a list, each address once."""
    hits: dict[str, SearchHit] = {}
    for item in cast("list[Any]", found) if isinstance(found, list) else []:
        one = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        url = one.get("url")
        if isinstance(url, str) and _is_address(url) and url not in hits:
            hits[url] = SearchHit(
                title=_plain(one.get("title"), most=_MAX_TITLE),
                url=url,
                snippet=_plain(one.get(snippet), most=_MAX_SNIPPET),
            )
    return list(hits.values())


def _is_address(url: str) -> bool:
    if len(url) > _MAX_URL or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _plain(text: object, *, most: int) -> str:
    """Return text without markup, as services put it around the words that were found."""
    if not isinstance(text, str):
        return ""
    return clean_line(html.unescape(_TAG.sub("", text[: most * 8])), most=most)
