"""Pins: approved definitions of upstream tools, and held ones that wait for approval."""

from pegboard.features.pins.pin_check import PinCheck, PinCheckResult
from pegboard.features.pins.service import Pins

__all__ = ["PinCheck", "PinCheckResult", "Pins"]
