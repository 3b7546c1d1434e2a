"""Searches the entries of catalogues by words and capabilities."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.features.marketplace.catalogue_reader import CatalogueSnapshot
from pegboard.features.marketplace.entries import Market, MarketEntry, entry_to_dict
from pegboard.features.paging import page_of

_APART = re.compile(r"[\s_-]+")
_MAX_REASONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryQuery:
    """A search for entries.

    Attributes:
        query: Words that must all occur.
        capability: A word by which the entry is found, of whatever kind.
        marketplace: Only this marketplace; empty for all.
    """

    query: str = ""
    capability: str = ""
    marketplace: str = ""
    limit: int = 50
    cursor: str = ""


def search_entries(
    stocks: Mapping[Market, CatalogueSnapshot], wanted: EntryQuery
) -> dict[str, Any]:
    """Return one page of matching entries, and the status of each catalogue.

    Raises:
        InvalidRequest: The cursor is unknown.
    """
    found = [entry for stock in stocks.values() for entry in stock.entries if _fits(entry, wanted)]
    found.sort(key=lambda entry: (entry.market, entry.id))
    page = page_of(found, cursor=wanted.cursor, limit=wanted.limit)
    return {
        "entries": [entry_to_dict(entry) for entry in page.items],
        "next_cursor": page.next_cursor or None,
        "marketplaces": [_catalogue_status(market, stock) for market, stock in stocks.items()],
    }


def _fits(entry: MarketEntry, wanted: EntryQuery) -> bool:
    if wanted.capability and not _has(entry, wanted.capability):
        return False
    words = wanted.query.casefold().split()
    return not words or _all_in(words, entry)


def _has(entry: MarketEntry, capability: str) -> bool:
    wanted = _word(capability)
    return any(_word(label.name) == wanted for label in entry.labels)


def _word(text: str) -> str:
    """Normalize a word, so that spelling variants are equal."""
    return _APART.sub("-", text.casefold().strip())


def _all_in(words: Sequence[str], entry: MarketEntry) -> bool:
    labels = " ".join(label.name for label in entry.labels)
    said = (entry.id, entry.title, entry.description, entry.publisher, labels)
    text = "\n".join(said).casefold()
    return all(word in text for word in words)


def _catalogue_status(market: Market, stock: CatalogueSnapshot) -> dict[str, Any]:
    return {
        "name": market.name,
        "kind": market.kind,
        "status": stock.status,
        "reason": stock.problem,
        "entries": len(stock.entries),
        "read_at": stock.read_at,
        "skipped": [
            {"reason": reason, "count": count, "example": stock.examples.get(reason, "")}
            for reason, count in list(stock.skipped.items())[:_MAX_REASONS]
        ],
    }
