"""Kill switches: what people turn off and on while servers run."""

from pegboard.features.kill_switches.service import KillSwitches, SwitchResult

__all__ = ["KillSwitches", "SwitchResult"]
