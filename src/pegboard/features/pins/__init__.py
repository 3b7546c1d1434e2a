"""Which definitions of upstreams are approved, and which wait for approval."""

from pegboard.features.pins.gate import Gate, Judged
from pegboard.features.pins.service import Pins

__all__ = ["Gate", "Judged", "Pins"]
