"""Tools that are registered while the board runs: versions, roll-back, persistence."""

from pegboard.features.catalogue.collecting import collecting_later
from pegboard.features.catalogue.once import Once
from pegboard.features.catalogue.service import CatalogueService
from pegboard.features.catalogue.turns import in_turns
from pegboard.features.catalogue.views import Registered

__all__ = ["CatalogueService", "Once", "Registered", "collecting_later", "in_turns"]
