"""OpenAPI directories: the `list.json` of APIs.guru, and documents of the same format.

After the directory's own document (APIs-guru/openapi-directory, `https://api.apis.guru/v2`, version
2.2.0): `{NAME: {added, preferred, versions: {VERSION: {info, swaggerUrl, swaggerYamlUrl,
openapiVer, updated, link}}}}`, where `info` is that of the API's document, with the directory's
`x-apisguru-categories`, `x-tags` and `x-providerName`.
"""

from types import NoneType
from typing import Any

from pegboard.features.marketplace.entries import (
    EntryPage,
    InstallOption,
    Market,
    MarketEntry,
    UnusableEntry,
)
from pegboard.features.marketplace.formats.sanitize import (
    Node,
    address,
    entry_name,
    labels,
    line,
    node,
    short_name,
    text,
)


def first_page(market: Market) -> str:
    """Return the address of the only document."""
    return market.place


def read_page(document: Any, market: Market, asked: str) -> EntryPage:
    """Parse the document.

    Raises:
        UnusableEntry: The document has another format.
    """
    del asked
    if isinstance(document, (list, str, int, float, NoneType)):
        raise UnusableEntry("it is not an OpenAPI directory (a mapping of APIs by name)")
    entries: list[MarketEntry] = []
    skipped: list[tuple[str, str]] = []
    for name, item in node(document).items():
        try:
            entries.append(_entry(name, node(item), market))
        except UnusableEntry as error:
            skipped.append((str(error), line(name, most=100)))
    if skipped and not entries:
        raise UnusableEntry(f"it is not an OpenAPI directory: in its first entry, {skipped[0][0]}")
    return EntryPage(entries=tuple(entries), skipped=tuple(skipped))


def _entry(name: str, item: Node, market: Market) -> MarketEntry:
    name = entry_name(name)
    versions = node(item.get("versions"))
    if not versions:
        raise UnusableEntry("it has no versions")
    preferred = item.get("preferred")
    chosen = preferred if isinstance(preferred, str) and preferred in versions else [*versions][-1]
    said = node(versions[chosen])
    info = node(said.get("info"))
    document = address(said.get("swaggerUrl")) or address(said.get("swaggerYamlUrl"))
    if not document:
        raise UnusableEntry("it has no http(s) address of its document")
    contact = node(info.get("contact"))
    provider, _, service = name.partition(":")
    return MarketEntry(
        market=market.name,
        id=name,
        kind="REST API",
        title=line(info.get("title")) or name,
        description=text(info.get("description")),
        version=line(info.get("version"), most=100) or line(chosen, most=100),
        publisher=line(info.get("x-providerName")) or line(contact.get("name")) or provider,
        labels=labels(
            (
                ("category", info.get("x-apisguru-categories")),
                ("tag", info.get("x-tags")),
                ("keyword", info.get("x-keywords")),
            )
        ),
        homepage=address(contact.get("url")) or address(node(said.get("externalDocs")).get("url")),
        updated_at=line(said.get("updated"), most=40),
        short=short_name(service or provider.rpartition(".")[0] or provider, market.name),
        ways=(
            InstallOption(
                name="document",
                source_kind="openapi",
                config={"document": document},
                address=document,
            ),
        ),
    )
