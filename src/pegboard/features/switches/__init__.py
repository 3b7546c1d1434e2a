"""Kill switches: what people turn off and on while servers run."""

from pegboard.features.switches.service import KillSwitches, Thrown

__all__ = ["KillSwitches", "Thrown"]
