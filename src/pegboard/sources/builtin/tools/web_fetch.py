"""`web_fetch`: reads a web page as Markdown, page by page."""

from typing import Annotated, Any, NotRequired
from urllib.parse import urlsplit

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.http import HttpRequest, HttpResponse
from pegboard.core.ports.services import Services
from pegboard.core.tool import Retry
from pegboard.errors import HostUnavailable, InvalidRequest
from pegboard.sources.builtin import confined_process
from pegboard.sources.builtin.response_text import find_part_end, text_of
from pegboard.sources.builtin.service_access import send_request, services_of, why_no_http
from pegboard.tools import tool

_SECONDS = 30.0
_MAX_BYTES = 3_000_000
_MAX_LINKS = 200
_ACCEPT = "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.8,*/*;q=0.1"
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
_HTML = ("text/html", "application/xhtml+xml")


class PageLink(TypedDict):
    """Where a page leads."""

    text: str
    url: str


class WebPage(TypedDict):
    """A part of a page; `next_offset` is None when it is the last."""

    url: str
    title: str
    text: str
    offset: int
    length: int
    next_offset: int | None
    truncated: bool
    links: NotRequired[list[PageLink]]


def availability(services: Services) -> str:
    """Return why the tool is unavailable: it needs HTTP, and a confined process for HTML."""
    return why_no_http(services) or confined_process.unavailable()


@tool(
    effect="read",
    category="web",
    trusted=False,
    timeout=60,
    retry=Retry(max_retries=1, backoff=0.5),
    tags=("web", "page", "markdown", "download"),
    capabilities=("read_web_page",),
)
async def web_fetch(
    url: Annotated[str, Field(min_length=1, max_length=8000)],
    ctx: ToolContext[Services],
    *,
    offset: Annotated[int, Field(ge=0)] = 0,
    max_length: Annotated[int, Field(ge=100, le=200_000)] = 20_000,
    links: bool = False,
) -> WebPage:
    """Read a web page: its title, and its text as Markdown without scripts, styles and forms.

    Also reads plain text, JSON and XML. A long page comes in parts: call again with `offset` set
    to `next_offset` for the next one.

    Args:
        url: The page's address, with http:// or https://.
        ctx: Has the HTTP client.
        offset: At which character of the text to begin.
        max_length: How many characters to return at most.
        links: Whether to list where the page's links lead.
    """
    request = HttpRequest(
        method="GET", url=url, headers={"Accept": _ACCEPT}, timeout=_SECONDS, max_bytes=_MAX_BYTES
    )
    response = await send_request(ctx, request)
    _check_status(response, ctx)
    text = text_of(response)
    if text is None:
        raise InvalidRequest(
            f"This is not a page that can be read as text, but {response.media_type}, "
            f"{len(response.content)} bytes."
        )
    read = await _read(response, text)
    return _part(response, read, offset=offset, max_length=max_length, links=links)


def _check_status(response: HttpResponse, ctx: ToolContext[Services]) -> None:
    host = urlsplit(response.url).netloc
    if response.status in _LATER:
        wait = response.retry_after(services_of(ctx).clock.time())
        raise HostUnavailable(f"{host} answered {response.status}.", retry_after=wait)
    if response.status >= 300:
        raise InvalidRequest(f"{host} answered {response.status}.")


async def _read(response: HttpResponse, text: str) -> dict[str, Any]:
    if response.media_type in _HTML or (not response.media_type and "<html" in text[:1000].lower()):
        return await confined_process.run_confined(
            "to_markdown", {"html": text, "url": response.url}
        )
    return {"title": "", "text": text, "links": []}


def _part(
    response: HttpResponse, read: dict[str, Any], *, offset: int, max_length: int, links: bool
) -> WebPage:
    text: str = read["text"]
    if offset > len(text):
        raise InvalidRequest(f"The text has {len(text)} characters; {offset} is beyond its end.")
    end = find_part_end(text, offset, max_length)
    page = WebPage(
        url=response.url,
        title=read["title"],
        text=text[offset:end],
        offset=offset,
        length=len(text),
        next_offset=end if end < len(text) else None,
        truncated=response.truncated,
    )
    if links:
        unique: dict[str, PageLink] = {link["url"]: link for link in reversed(read["links"])}
        page["links"] = list(reversed(unique.values()))[:_MAX_LINKS]
    return page
