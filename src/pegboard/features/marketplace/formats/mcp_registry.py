"""MCP registries: the answer of `GET /v0/servers` and `/v0.1/servers`, and `server.json` alone.

After the registry's own documents (modelcontextprotocol/registry, `docs/reference/api/openapi.yaml`
and `docs/reference/server-json/server.schema.json`, version 2025-12-01): `{servers: [{server,
_meta}], metadata: {nextCursor}}`, where a `server` has `name, description, version, title,
repository, websiteUrl, packages, remotes, _meta`. Servers without the wrapper are read too; the
names with `_` that the format had before 2025-09-16 are not. The format has no field for
capabilities; publishers write `tags`, `keywords` and `categories` under `_meta`.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pegboard.features.marketplace.entries import (
    EntryPage,
    InstallOption,
    Label,
    Market,
    MarketEntry,
    UnusableEntry,
)
from pegboard.features.marketplace.formats.inputs import Inputs
from pegboard.features.marketplace.formats.mcp_packages import OLD, package_way
from pegboard.features.marketplace.formats.sanitize import (
    Node,
    address,
    entry_name,
    items,
    labels,
    line,
    node,
    short_name,
    text,
)

_OFFICIAL = "io.modelcontextprotocol.registry/official"
_NAME = re.compile(r"[A-Za-z0-9.-]+/[A-Za-z0-9._-]+")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_TRANSPORTS = {"streamable-http": "http", "sse": "sse"}
_WORDS = (
    ("capability", "capabilities"),
    ("category", "categories"),
    ("category", "category"),
    ("tag", "tags"),
    ("keyword", "keywords"),
)
_NUMBERS = re.compile(r"\d{1,9}")
_MAX_OPTIONS = 8
_PAGE = "100"
_Rank = tuple[bool, str, tuple[int, ...], bool]


def first_page(market: Market) -> str:
    """Return the address of the first page; an API is asked for the latest versions only."""
    if market.is_remote and urlsplit(market.place).path.rstrip("/").endswith("/servers"):
        return _with_query(market.place, version="latest", limit=_PAGE)
    return market.place


def page_of_one(market: Market, entry: str) -> str:
    """Return the address to look up one entry; a document has to be read completely."""
    first = first_page(market)
    return first if first == market.place else _with_query(first, search=entry)


def read_page(document: Any, market: Market, asked: str) -> EntryPage:
    """Parse a page.

    Raises:
        UnusableEntry: The document has another format.
    """
    root = node(document)
    if "servers" not in root and "name" in root:  # a server.json alone
        listed: list[Any] = [root]
    elif isinstance(root.get("servers"), list):
        listed = items(root["servers"])
    else:
        raise UnusableEntry("it is not the list of an MCP registry: it has no 'servers'")
    skipped: list[tuple[str, str]] = []
    found: dict[str, tuple[_Rank, MarketEntry]] = {}
    for item in listed:
        try:
            rank, entry = _entry(node(item), market)
        except UnusableEntry as error:
            skipped.append((str(error), _name_of(node(item))))
            continue
        if entry.id not in found or rank > found[entry.id][0]:
            found[entry.id] = rank, entry
    cursor = node(root.get("metadata")).get("nextCursor")
    following = ""
    if isinstance(cursor, str) and cursor and market.is_remote:
        following = _with_query(asked, cursor=cursor)
    entries = tuple(entry for _, entry in found.values())
    return EntryPage(entries=entries, skipped=tuple(skipped), following=following)


def _name_of(item: Node) -> str:
    return line(node(item.get("server") or item).get("name"), most=100)


def _entry(item: Node, market: Market) -> tuple[_Rank, MarketEntry]:
    """An entry, and its rank among versions of the same."""
    server = node(item.get("server")) if "server" in item else item
    official = node(node(item.get("_meta")).get(_OFFICIAL))
    name = entry_name(server.get("name"))
    if not _NAME.fullmatch(name):
        raise UnusableEntry("its name is not 'namespace/name'")
    status = line(official.get("status") or server.get("status"), most=20) or "active"
    if status == "deleted":
        raise UnusableEntry("it was deleted by its publisher")
    namespace, _, own = name.partition("/")
    short = short_name(own, market.name)
    message = line(official.get("statusMessage"), most=500)
    warnings = (
        (f"Its publisher calls it {status}. {message}".strip(),) if status != "active" else ()
    )
    entry = MarketEntry(
        market=market.name,
        id=name,
        kind="MCP server",
        title=line(server.get("title")) or own,
        description=text(server.get("description")),
        version=line(server.get("version"), most=100),
        publisher=namespace,
        labels=_labels(server, item),
        status=status,
        homepage=address(server.get("websiteUrl")),
        repository=address(node(server.get("repository")).get("url")),
        updated_at=line(official.get("updatedAt"), most=40),
        short=short,
        warnings=warnings,
        ways=tuple(_ways(server, short)),
    )
    updated = line(official.get("publishedAt"), most=40) or entry.updated_at
    released, dash, _ = entry.version.partition("-")
    numbers = tuple(map(int, _NUMBERS.findall(released)[:8]))
    return (official.get("isLatest") is True, updated, numbers, not dash), entry


def _labels(server: Node, item: Node) -> tuple[Label, ...]:
    metas = [node(part.get("_meta")) for part in (server, item)]
    said = [server, *(node(value) for meta in metas for value in meta.values())]
    return labels((told_as, part.get(key)) for part in said for told_as, key in _WORDS)


def _ways(server: Node, short: str) -> Iterator[InstallOption]:
    """Install options: remote servers first, then those with fewer needs."""
    remotes = [
        _remote(node(said), name=f"remote-{number}", short=short)
        for number, said in enumerate(items(server.get("remotes"))[:_MAX_OPTIONS], start=1)
    ]
    packages = [
        package_way(node(said), name=f"package-{number}", short=short)
        for number, said in enumerate(items(server.get("packages"))[:_MAX_OPTIONS], start=1)
    ]
    yield from sorted(
        (*remotes, *packages),
        key=lambda way: (bool(way.problem), way.runs_here, bool(way.needs)),
    )


def _remote(said: Node, *, name: str, short: str) -> InstallOption:
    try:
        return _remote_way(said, name, short)
    except UnusableEntry as error:
        return InstallOption(name=name, source_kind="mcp", problem=f"{error}.")


def _remote_way(said: Node, name: str, short: str) -> InstallOption:
    if "transport_type" in said:
        raise UnusableEntry(OLD)
    transport = _TRANSPORTS.get(line(said.get("type"), most=40))
    if transport is None:
        raise UnusableEntry(
            f"its transport is '{line(said.get('type'), most=40)}'; only http and sse are supported"
        )
    inputs = Inputs(short)
    url = inputs.fill(said.get("url"), node(said.get("variables")), place="address")
    if not url.startswith("${") and not address(url.replace("${", "").replace("}", "")):
        raise UnusableEntry("its address is not an http(s) address")
    headers: dict[str, str] = {}
    for item in map(node, items(said.get("headers"))[:50]):
        header = item.get("name")
        if not isinstance(header, str) or not _HEADER.fullmatch(header):
            raise UnusableEntry("one of its headers has an invalid name")
        value = inputs.value(item, name=header, place="header")
        if value is not None:
            headers[header] = value
    config: dict[str, Any] = {"url": url, "transport": transport}
    if headers:
        config["headers"] = headers
    secret = [need.name for need in inputs.needs if need.is_secret or need.place == "header"]
    warnings = [f"It is sent your {', '.join(secret)}."] if secret else []
    if url.startswith("http://"):
        warnings.append("Its connection is not encrypted: it can be read and changed on the way.")
    return InstallOption(
        name=name,
        source_kind="mcp",
        config=config,
        address=url,
        needs=inputs.needs,
        warnings=tuple(warnings),
    )


def _with_query(url: str, **more: str) -> str:
    parts = urlsplit(url)
    kept = [(key, value) for key, value in parse_qsl(parts.query) if key not in more]
    return urlunsplit(parts._replace(query=urlencode([*kept, *more.items()])))
