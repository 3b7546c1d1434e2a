"""The composition root: settings, plug discovery, wiring, and `Pegboard`."""

from pegboard.runtime import builtin
from pegboard.runtime.pegboard import Pegboard
from pegboard.runtime.settings import Settings

__all__ = ["Pegboard", "Settings", "builtin"]
