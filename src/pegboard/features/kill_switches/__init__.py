"""Kill switches: turn tools, sources or all writes off and on while servers run."""

from pegboard.features.kill_switches.service import KillSwitches, SwitchResult

__all__ = ["KillSwitches", "SwitchResult"]
