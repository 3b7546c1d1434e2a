"""Tools registered by API while the board runs: versions, roll-back, persistence."""

from pegboard.features.catalogue.service import CatalogueService
from pegboard.features.catalogue.views import RegistrationResult
from pegboard.features.idempotent_requests import IdempotentRequests

__all__ = ["CatalogueService", "IdempotentRequests", "RegistrationResult"]
