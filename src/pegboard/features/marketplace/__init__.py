"""External catalogues (marketplaces): browse, review and add entries."""

from pegboard.features.marketplace.catalogue_reader import CatalogueReader
from pegboard.features.marketplace.entries import Market
from pegboard.features.marketplace.review import EntrySelection, Review
from pegboard.features.marketplace.search import EntryQuery
from pegboard.features.marketplace.service import Marketplace, addition_event

__all__ = [
    "CatalogueReader",
    "EntryQuery",
    "EntrySelection",
    "Market",
    "Marketplace",
    "Review",
    "addition_event",
]
