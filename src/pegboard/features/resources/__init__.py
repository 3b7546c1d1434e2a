"""Connectors, agents and skills that people add while a board runs, and share."""

from pegboard.features.resources.resource_change import NewResource, ResourceChange
from pegboard.features.resources.service import Resources
from pegboard.features.resources.sources import CheckedConfig, ConnectorReport, ConnectorSources

__all__ = [
    "CheckedConfig",
    "ConnectorReport",
    "ConnectorSources",
    "NewResource",
    "ResourceChange",
    "Resources",
]
