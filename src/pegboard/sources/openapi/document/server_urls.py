"""Where requests go: what the operator wrote, or the server that the document names.

Nothing that a caller says takes part in it.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urljoin, urlsplit

from pegboard.sources.openapi.document.lenient_access import (
    LocatedNode,
    Node,
    mapping,
    sequence,
    text,
)

_URL = re.compile(r"https?://", re.IGNORECASE)
_VARIABLE = re.compile(r"\{([^{}]+)\}")
_DOTS = frozenset({".", ".."})
_MAX_DECODINGS = 5
_UNFIT = re.compile(r"[\x00-\x20\x7f\\{}]")


class BadAddress(ValueError):
    """There is no address that requests could be sent to; the message says why."""


def is_url(document: str) -> bool:
    """Whether a document is fetched from there."""
    return _URL.match(document) is not None


def check_base_url(url: str) -> str:
    """A base URL without its last slash.

    Raises:
        BadAddress: It is no plain http(s) address.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BadAddress("write it as https://host/path") from error
    del port
    if parts.scheme not in ("http", "https") or not host or _UNFIT.search(url):
        raise BadAddress("write it as https://host/path")
    if "@" in parts.netloc:
        raise BadAddress("leave the user name and password out; give them as auth")
    if parts.query or parts.fragment:
        raise BadAddress("leave out what begins with '?' or '#'")
    return url.rstrip("/")


def origin_of(url: str) -> str:
    """Scheme, host and port, so that equal origins are equal texts."""
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    port = "" if parts.port in (None, default) else f":{parts.port}"
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"


def swagger_servers(document: Node, url: str) -> list[Node]:
    """The `host`, `basePath` and `schemes` of Swagger 2.0 as servers."""
    path = text(document.get("basePath")) or "/"
    host = text(document.get("host"))
    if not host:
        return [{"url": path}]
    # the document's own scheme first: Swagger says that it is meant when none is named
    schemes = [item for item in sequence(document.get("schemes")) if item in ("https", "http")]
    own = urlsplit(url).scheme or "https"
    schemes = sorted(schemes, reverse=True) or [own]
    return [{"url": f"{scheme}://{host}{path}"} for scheme in schemes]


def server_url(
    servers: Sequence[object], index: int, variables: Mapping[str, str], document_url: str
) -> str:
    """The URL of one of several servers, its variables filled in.

    Args:
        servers: As the document lists them; none means the document's own root.
        index: Which of them, from 0.
        variables: What the operator says of its variables; the document's defaults otherwise.
        document_url: What a relative one starts from; empty when the document is no URL.

    Raises:
        BadAddress: There is no such server, or its URL leads nowhere.
    """
    if index >= max(1, len(servers)):
        raise BadAddress(f"The document names {len(servers)} servers; there is no server {index}.")
    server = mapping(servers[index]) if servers else {"url": "/"}
    url = _fill_variables(
        text(server.get("url")) or "/", mapping(server.get("variables")), variables
    )
    full = urljoin(document_url, url) if document_url else url
    try:
        return check_base_url(full)
    except BadAddress as error:
        raise BadAddress(
            f"The document names {url!r} as its server, which is no address: set base_url."
        ) from error


def has_dot_segments(path: str) -> bool:
    """Whether a path has a dot segment in it once it is decoded, as often as servers do."""
    for _ in range(_MAX_DECODINGS):
        if not _DOTS.isdisjoint(re.split(r"[/\\;]", path)):
            return True
        path = unquote(path)
    return False


def own_servers(path_item: LocatedNode, operation: Node) -> Sequence[object]:
    """The servers that an operation, or the path it stands under, has for itself."""
    return sequence(operation.get("servers")) or sequence(path_item.fields.get("servers"))


def _fill_variables(url: str, described: Node, given: Mapping[str, str]) -> str:
    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        about = mapping(described.get(name))
        value = given.get(name, _scalar(about.get("default")))
        if not value and name not in given and about.get("default") != "":
            raise BadAddress(f"Set server_variables: {{{name}: ...}}; the document has no default.")
        allowed = [_scalar(item) for item in sequence(about.get("enum"))]
        if allowed and value not in allowed:
            raise BadAddress(
                f"server_variables: {name} is one of {', '.join(allowed)}; found {value!r}."
            )
        # exports write `https://host/{basePath}` with the default `/prod`
        return value.lstrip("/") if match.start() and url[match.start() - 1] == "/" else value

    return _VARIABLE.sub(value_of, url)


def _scalar(value: object) -> str:
    """A text, or a number that YAML made of one that stands without quotes, as a port does."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else text(value)
