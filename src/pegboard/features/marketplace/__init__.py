"""External catalogues: browsed, looked at, and added from."""

from pegboard.features.marketplace.catalogue_reader import Catalogues
from pegboard.features.marketplace.entries import Market
from pegboard.features.marketplace.review import Choice, Review
from pegboard.features.marketplace.search import EntryQuery
from pegboard.features.marketplace.service import Marketplace, added

__all__ = ["Catalogues", "Choice", "EntryQuery", "Market", "Marketplace", "Review", "added"]
