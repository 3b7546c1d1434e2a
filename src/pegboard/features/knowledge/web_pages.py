"""Pages of the web that become documents: fetched through the guarded client, links followed."""

from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.errors import InvalidRequest, Unavailable

MAX_PAGE = 20 * 1024 * 1024
"""Bytes of one page."""
MAX_ROBOTS = 500_000
"""Bytes of a robots file that are read."""
AGENT = "pegboard"
"""What a robots file calls the crawler."""
_HEADERS = {"accept": "text/html,application/xhtml+xml,application/pdf,text/plain;q=0.9,*/*;q=0.5"}
_MAX_LINKS = 2_000
_OK, _SERVER_ERROR = 200, 500
_SECONDS = 60.0


async def fetch_robots(http: HttpClient, root: str) -> str:
    """The robots file of the server of an address; empty where there is none.

    Raises:
        InvalidRequest: Its address is refused.
        Unavailable: It cannot be read, so that nothing says which pages may be fetched.
    """
    url = urljoin(root, "/robots.txt")
    response = await http.send(
        HttpRequest(method="GET", url=url, timeout=_SECONDS, max_bytes=MAX_ROBOTS)
    )
    if response.status >= _SERVER_ERROR:
        raise Unavailable(f"{url[:200]} answered {response.status}.")
    if response.status != _OK:
        return ""
    return response.content.decode("utf-8", errors="replace")


def may_fetch(robots: str, url: str) -> bool:
    """Whether a robots file lets Pegboard fetch a page."""
    parser = RobotFileParser()
    parser.parse(robots.splitlines())
    return parser.can_fetch(AGENT, url)


async def fetch_page(http: HttpClient, url: str) -> HttpResponse:
    """A page.

    Raises:
        InvalidRequest: Its address is refused, it is not there, or it is too large.
        Unavailable: A later try may help.
    """
    response = await http.send(
        HttpRequest(method="GET", url=url, headers=_HEADERS, timeout=_SECONDS, max_bytes=MAX_PAGE)
    )
    if response.status >= _SERVER_ERROR:
        raise Unavailable(f"{url[:200]} answered {response.status}.")
    if response.status != _OK:
        raise InvalidRequest(f"{url[:200]} answered {response.status}.")
    if response.truncated:
        raise InvalidRequest(f"{url[:200]} is larger than {MAX_PAGE} bytes.")
    return response


def find_links(response: HttpResponse, *, below: str) -> list[str]:
    """The addresses of the pages below one that a page links to, each once, in their order."""
    if response.media_type not in {"text/html", "application/xhtml+xml"}:
        return []
    reader = _LinkReader()
    reader.feed(response.content.decode("utf-8", errors="replace"))
    base = urljoin(response.url, reader.base) if reader.base else response.url
    found: dict[str, None] = {}
    for link in reader.links:
        try:
            url = urldefrag(urljoin(base, link.strip())).url
        except ValueError:
            continue
        if is_below(url, below):
            found[url] = None
    return [*found]


def is_below(url: str, root: str) -> bool:
    """Whether an address is on the same server, in the folder of another or deeper."""
    try:
        page, start = urlsplit(url), urlsplit(root)
    except ValueError:
        return False
    folder = start.path.rpartition("/")[0] + "/"
    return (
        page.scheme in {"http", "https"}
        and (page.scheme, page.netloc) == (start.scheme, start.netloc)
        and (page.path or "/").startswith(folder)
        and ".." not in page.path
    )


def name_page(url: str) -> str:
    """The name of the file that a page becomes."""
    path = urlsplit(url).path.rstrip("/")
    return (path.rpartition("/")[2] or urlsplit(url).hostname or "page")[:200]


class _LinkReader(HTMLParser):
    """Collects the links of a page; a page of garbage has none."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        given: dict[str, Any] = dict(attrs)
        if tag == "base" and given.get("href") and not self.base:
            self.base = str(given["href"])
        elif tag == "a" and given.get("href") and len(self.links) < _MAX_LINKS:
            self.links.append(str(given["href"]))
