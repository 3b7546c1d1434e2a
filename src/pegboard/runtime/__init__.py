"""The composition root: settings, plug discovery, wiring, and `Pegboard`."""

from pegboard.runtime.pegboard import Pegboard
from pegboard.runtime.settings import Settings
from pegboard.runtime.standalone import builtin

__all__ = ["Pegboard", "Settings", "builtin"]
