"""Server URLs: the one that the operator configured, or the one of the document.

No argument of a call has a part in it.
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


class BadServerUrl(ValueError):
    """There is no URL to send requests to; the message says why."""


def is_url(document: str) -> bool:
    """Whether a document is fetched from a URL."""
    return _URL.match(document) is not None


def check_base_url(url: str) -> str:
    """Check a base URL and return it without a trailing slash.

    Raises:
        BadServerUrl: It is not a plain http(s) URL.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BadServerUrl("write it as https://host/path") from error
    del port
    if parts.scheme not in ("http", "https") or not host or _UNFIT.search(url):
        raise BadServerUrl("write it as https://host/path")
    if "@" in parts.netloc:
        raise BadServerUrl("leave the user name and password out; give them as auth")
    if parts.query or parts.fragment:
        raise BadServerUrl("leave out what begins with '?' or '#'")
    return url.rstrip("/")


def origin_of(url: str) -> str:
    """Return scheme, host and port in normalised form."""
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    port = "" if parts.port in (None, default) else f":{parts.port}"
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"


def swagger_servers(document: Node, url: str) -> list[Node]:
    """Return `host`, `basePath` and `schemes` of Swagger 2.0 as servers."""
    path = text(document.get("basePath")) or "/"
    host = text(document.get("host"))
    if not host:
        return [{"url": path}]
    # the scheme of the document's URL comes first: it is Swagger's default
    schemes = [item for item in sequence(document.get("schemes")) if item in ("https", "http")]
    own = urlsplit(url).scheme or "https"
    schemes = sorted(schemes, reverse=True) or [own]
    return [{"url": f"{scheme}://{host}{path}"} for scheme in schemes]


def server_url(
    servers: Sequence[object], index: int, variables: Mapping[str, str], document_url: str
) -> str:
    """Return the URL of one of several servers with its variables filled in.

    Args:
        servers: The servers of the document; none means the root of its own URL.
        index: The index of the server, from 0.
        variables: The operator's values; the document's defaults fill the rest.
        document_url: The base of a relative URL; empty if the document has no URL.

    Raises:
        BadServerUrl: There is no such server, or its URL is not valid.
    """
    if index >= max(1, len(servers)):
        raise BadServerUrl(f"The document has {len(servers)} servers; there is no server {index}.")
    server = mapping(servers[index]) if servers else {"url": "/"}
    url = _fill_variables(
        text(server.get("url")) or "/", mapping(server.get("variables")), variables
    )
    full = urljoin(document_url, url) if document_url else url
    try:
        return check_base_url(full)
    except BadServerUrl as error:
        if not servers:
            raise BadServerUrl("The document names no server: set base_url.") from error
        raise BadServerUrl(
            f"The document has the server {url!r}, which is not a URL: set base_url."
        ) from error


def has_dot_segments(path: str) -> bool:
    """Whether a path has a dot segment after decoding it as often as servers may."""
    for _ in range(_MAX_DECODINGS):
        if not _DOTS.isdisjoint(re.split(r"[/\\;]", path)):
            return True
        path = unquote(path)
    return False


def own_servers(path_item: LocatedNode, operation: Node) -> Sequence[object]:
    """Return the servers of an operation, or else of its path item."""
    return sequence(operation.get("servers")) or sequence(path_item.fields.get("servers"))


def _fill_variables(url: str, described: Node, given: Mapping[str, str]) -> str:
    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        about = mapping(described.get(name))
        value = given.get(name, _scalar(about.get("default")))
        if not value and name not in given and about.get("default") != "":
            raise BadServerUrl(
                f"Set server_variables: {{{name}: ...}}; the document has no default."
            )
        allowed = [_scalar(item) for item in sequence(about.get("enum"))]
        if allowed and value not in allowed:
            raise BadServerUrl(
                f"server_variables: {name} is one of {', '.join(allowed)}; found {value!r}."
            )
        # exports write `https://host/{basePath}` with the default `/prod`
        return value.lstrip("/") if match.start() and url[match.start() - 1] == "/" else value

    return _VARIABLE.sub(value_of, url)


def _scalar(value: object) -> str:
    """Return a string, or an unquoted YAML number such as a port as a string."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else text(value)
