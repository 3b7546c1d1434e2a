"""Connectors, agents and skills that people add while a board runs, and share."""

from pegboard.features.resources.service import NewResource, ResourceChange, Resources
from pegboard.features.resources.sources import ConnectorReport, ConnectorSources

__all__ = ["ConnectorReport", "ConnectorSources", "NewResource", "ResourceChange", "Resources"]
