"""Tools that are registered while the board runs: versions, roll-back, persistence."""

from pegboard.features.catalogue.once import Once
from pegboard.features.catalogue.service import CatalogueService
from pegboard.features.catalogue.unhurried import unhurried
from pegboard.features.catalogue.views import Registered

__all__ = ["CatalogueService", "Once", "Registered", "unhurried"]
