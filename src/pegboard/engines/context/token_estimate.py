"""How many tokens messages take: an estimate by bytes, corrected by what the provider counted."""

from collections.abc import Sequence

from msgspec import json

from pegboard.core.model_messages import AssistantMessage, Message, ModelTool
from pegboard.core.text.measure import BYTES_PER_UNIT, measure_text

_MESSAGE = 8
"""Units of a message beside its text, and of a call in it."""
_LEAST, _MOST = 0.25, 4.0


class TokenEstimate:
    """Estimates the tokens of requests.

    Args:
        tools: What each request lists.

    Attributes:
        scale: Tokens of a unit, as the provider counted them last.
    """

    def __init__(self, tools: Sequence[ModelTool] = ()) -> None:
        self.scale = 1.0
        self._tools = tools
        self._tool_units: int | None = None

    @property
    def tool_units(self) -> int:
        """Units of the listed tools."""
        if self._tool_units is None:
            sizes = (
                len(tool.description) + len(json.encode(tool.parameters)) for tool in self._tools
            )
            self._tool_units = sum(size // BYTES_PER_UNIT + 2 * _MESSAGE for size in sizes)
        return self._tool_units

    def tokens(self, units: int) -> int:
        """The tokens of so many units."""
        return int(units * self.scale) + 1

    def correct(self, units: int, counted: int) -> None:
        """Learn from a request how many tokens the provider counted; 0 for unknown."""
        if units > 0 and counted > 0:
            self.scale = min(max(counted / units, _LEAST), _MOST)


def measure_message(message: Message) -> int:
    """Units of a message with its calls."""
    units = _MESSAGE + measure_text(message.text)
    if isinstance(message, AssistantMessage):
        units += measure_text(message.thinking)
        for call in message.calls:
            units += _MESSAGE + measure_text(call.name) + measure_text(call.arguments)
        if message.provider:
            units += len(json.encode(message.provider)) // BYTES_PER_UNIT
    return units
