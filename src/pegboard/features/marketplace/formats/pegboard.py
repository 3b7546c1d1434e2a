"""Another Pegboard: the answers of its `GET /v1/tools`, page by page.

After our own document, `GET /v1/openapi.json`: `{tools: [{id, name, title, description, category,
effect, version, status, source, capabilities, tags, unavailable}], next_cursor}`. Its tools are
used through its MCP endpoint, `/mcp`.
"""

from typing import Any
from urllib.parse import urlencode

from pegboard.core.wire_names import is_wire_name
from pegboard.features.marketplace.entries import (
    EntryPage,
    InstallOption,
    Market,
    MarketEntry,
    UnusableEntry,
)
from pegboard.features.marketplace.formats.sanitize import (
    Node,
    entry_name,
    items,
    labels,
    line,
    node,
    text,
)

_PAGE = 500
_EFFECTS = frozenset({"read", "write", "admin"})


def first_page(market: Market) -> str:
    """Return the address of the first page."""
    return _page(market, "")


def read_page(document: Any, market: Market, asked: str) -> EntryPage:
    """Parse a page.

    Raises:
        UnusableEntry: The document has another format.
    """
    del asked
    root = node(document)
    if not isinstance(root.get("tools"), list):
        raise UnusableEntry("it is not the list of a Pegboard: it has no 'tools'")
    entries: list[MarketEntry] = []
    skipped: list[tuple[str, str]] = []
    for item in items(root["tools"]):
        try:
            entries.append(_entry(node(item), market))
        except UnusableEntry as error:
            skipped.append((str(error), line(node(item).get("name"), most=100)))
    cursor = root.get("next_cursor")
    following = _page(market, cursor) if isinstance(cursor, str) and cursor else ""
    return EntryPage(entries=tuple(entries), skipped=tuple(skipped), following=following)


def _page(market: Market, cursor: str) -> str:
    query = {"limit": _PAGE, **({"cursor": cursor} if cursor else {})}
    return f"{market.place}/v1/tools?{urlencode(query)}"


def _entry(item: Node, market: Market) -> MarketEntry:
    name = entry_name(item.get("name"))
    if not is_wire_name(name):
        raise UnusableEntry("its name is not a valid tool name")
    unavailable = line(item.get("unavailable"))
    status = line(item.get("status"), most=20) or "active"
    said = item.get("effect")
    effect = said if isinstance(said, str) and said in _EFFECTS else "write"
    return MarketEntry(
        market=market.name,
        id=name,
        kind="tool",
        title=line(item.get("title")) or name,
        description=text(item.get("description")),
        version=line(item.get("version"), most=100),
        publisher=market.place,
        labels=labels(
            (
                ("capability", item.get("capabilities")),
                ("category", item.get("category")),
                ("tag", item.get("tags")),
            )
        ),
        effect=effect,
        status=status,
        short=market.name,
        warnings=(f"It cannot be used there now: {unavailable}",) if unavailable else (),
        ways=(_way(name, effect, market),),
    )


def _way(name: str, effect: str, market: Market) -> InstallOption:
    config: dict[str, Any] = {"url": f"{market.place}/mcp", "include": [name]}
    warnings: list[str] = []
    if effect != "write":  # what an MCP server says itself is not trusted: the review shows this
        config["effects"] = {name: effect}
    if effect == "read":
        warnings.append(f"That it changes nothing is what the marketplace '{market.name}' says.")
    if market.token:
        config["auth"] = {"kind": "bearer", "token": market.token_as}
        warnings.append(f"It is sent the token of the marketplace '{market.name}'.")
    if market.place.startswith("http://"):
        warnings.append("Its connection is not encrypted: it can be read and changed on the way.")
    return InstallOption(
        name="mcp",
        source_kind="mcp",
        config=config,
        address=config["url"],
        only=name,
        warnings=tuple(warnings),
    )
