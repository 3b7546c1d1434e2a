"""Runs of graphs: started, followed, controlled and answered."""

from pegboard.features.runs.event_feed import RunFeed
from pegboard.features.runs.service import Runs
from pegboard.features.runs.views import RunView

__all__ = ["RunFeed", "RunView", "Runs"]
