"""What we ship to people who write plugs: suites that say what a plug must keep, and doubles."""

from pegboard.testing.durability_contract import DurabilityContract
from pegboard.testing.fake_clock import FakeClock
from pegboard.testing.scripted_model import ScriptDrift, ScriptedModel, Turn
from pegboard.testing.source_contract import SourceContract

__all__ = [
    "DurabilityContract",
    "FakeClock",
    "ScriptDrift",
    "ScriptedModel",
    "SourceContract",
    "Turn",
]
