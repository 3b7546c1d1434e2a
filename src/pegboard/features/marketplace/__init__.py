"""External catalogues: browsed, looked at, and added from."""

from pegboard.features.marketplace.browsing import Wanted
from pegboard.features.marketplace.entry import Market
from pegboard.features.marketplace.reading import Catalogues
from pegboard.features.marketplace.reviewing import Choice, Review
from pegboard.features.marketplace.service import Marketplace, added

__all__ = ["Catalogues", "Choice", "Market", "Marketplace", "Review", "Wanted", "added"]
