"""Which source a name belongs to, and why its tool is missing."""

import asyncio
from collections.abc import Mapping

from pegboard.access.visibility import ResourceIndex
from pegboard.core.wire_names import split_wire_name
from pegboard.runtime.board_tools import SOURCE as BOARD
from pegboard.runtime.sources.state import SourceState


class MissingTools:
    """Explains missing tools by the state of their source.

    ```python
    missing = MissingTools(sources.states)
    missing.why("shop__find_order")  # "its source 'shop' failed: ..."
    ```

    Args:
        states: The sources of the board by name; read at each question.

    Attributes:
        index: The connectors of people. Their names are taken too, but what is wrong with them is
            told by their owner's side alone.
    """

    def __init__(self, states: Mapping[str, SourceState]) -> None:
        self._states = states
        self.index = ResourceIndex()
        self._loop = asyncio.get_running_loop()

    def owner(self, name: str) -> str:
        """The source that a name belongs to; empty when it is free."""
        source, _ = split_wire_name(name)
        is_taken = source == BOARD or source in self._states or self.index.governs(source)
        return source if is_taken else ""

    def why(self, name: str) -> str:
        """Why a tool is missing; empty when its source is fine or there is none."""
        state = self._state(name)
        if state is None or state.status == "ok":
            return ""
        return f"its source '{state.name}' {state.describe()}"

    def coming(self, name: str) -> asyncio.Event | None:
        """The event set once the source of a name has answered; None on other loops."""
        state = self._state(name)
        if state is None or state.listed.is_set() or asyncio.get_running_loop() is not self._loop:
            return None
        state.wanted.set()
        return state.listed

    def _state(self, name: str) -> SourceState | None:
        """The source of a name; of a plain one, the first whose kind has such a tool."""
        source, action = split_wire_name(name)
        if source:
            return None if source == BOARD else self._states.get(source)
        return next((it for it in self._states.values() if _has_plain(it, action)), None)


def _has_plain(state: SourceState, name: str) -> bool:
    opener = state.opener
    return opener is not None and name in opener.kind.plain_names()
