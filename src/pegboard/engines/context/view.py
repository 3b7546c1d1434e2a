"""A conversation as the model is shown it: whole, or with parts cleared, summarised or left out."""

import re
from collections.abc import Sequence

from msgspec import Struct, structs

from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from pegboard.core.result import RESULT_URI
from pegboard.engines.context.token_estimate import TokenEstimate, measure_message

_HANDLE = re.compile(re.escape(RESULT_URI) + r"[0-9a-f]{24}(?:-p\d+)?")
_MAX_HANDLES = 20


class ResultNote(Struct, frozen=True):
    """What stands in place of a result that was cleared.

    Attributes:
        index: Of the message in the conversation.
        text: Names the handle of the result.
    """

    index: int
    text: str


class ContextState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a model is not shown of a conversation; recorded with the turn that decided it.

    Attributes:
        notes: In place of results that were cleared.
        omitted: The index of the first message that is shown behind the system prompt, apart from
            messages of people to this run; 0 when nothing is left out.
        summary: Of what is left out; empty for none.
        room: Tokens of a request, as learnt from a refusal of the provider; 0 for nothing learnt.
    """

    notes: tuple[ResultNote, ...] = ()
    omitted: int = 0
    summary: str = ""
    room: int = 0


class ContextView:
    """A conversation with what is not shown of it.

    A system prompt is its first message. A call and its result are shown or left out together.

    Args:
        messages: The whole conversation.
        state: What of it is not shown.
        sizes: The units of each message.
        question: The index of the message that the run answers. It and later messages of people
            are always shown.
        estimate: Estimates tokens.
        total: The units of all messages; None adds them up.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        state: ContextState,
        *,
        sizes: Sequence[int],
        question: int,
        estimate: TokenEstimate,
        total: int | None = None,
    ) -> None:
        self.messages = messages
        self._total = sum(sizes) if total is None else total
        self.state = state
        self.sizes = sizes
        self.question = question
        self._estimate = estimate

    @property
    def start(self) -> int:
        """The index from which on everything is shown."""
        return max(self.first, self.state.omitted)

    @property
    def first(self) -> int:
        """The index of the first message that is no system prompt."""
        return 1 if isinstance(self.messages[0], SystemMessage) else 0

    @property
    def units(self) -> int:
        """The size of a request with what is shown."""
        if not self.state.omitted and not self.state.notes:
            return self._estimate.tool_units + self._total
        sizes, start = self.sizes, self.start
        units = self._estimate.tool_units + sum(sizes[: self.first]) + sum(sizes[start:])
        units += sum(sizes[index] for index in range(self.first, start) if self.is_kept(index))
        for note in self.state.notes:
            if note.index >= start:
                units += measure_message(UserMessage(text=note.text)) - sizes[note.index]
        if self.state.omitted:
            units += measure_message(self._make_stand_in())
        return units

    @property
    def tokens(self) -> int:
        """Estimated tokens of a request with what is shown."""
        return self._estimate.tokens(self.units)

    def tokens_of(self, units: int) -> int:
        """Estimated tokens of so many units."""
        return self._estimate.tokens(units)

    def replace(self, **changes: object) -> "ContextView":
        """The same conversation with another state."""
        return ContextView(
            self.messages,
            structs.replace(self.state, **changes),
            sizes=self.sizes,
            question=self.question,
            estimate=self._estimate,
            total=self._total,
        )

    def is_kept(self, index: int) -> bool:
        """Whether a message is always shown: what people say to this run."""
        return index >= self.question and isinstance(self.messages[index], UserMessage)

    def count_omitted(self, start: int, *, since: int | None = None) -> int:
        """Messages that are not shown once the shown part begins there.

        Args:
            start: An index.
            since: Where to begin counting; None for those that are shown now.
        """
        first = self.start if since is None else since
        return sum(not self.is_kept(index) for index in range(first, start))

    def show(self) -> tuple[Message, ...]:
        """The messages of a request."""
        state, start = self.state, self.start
        if not state.omitted and not state.notes:
            return tuple(self.messages)
        shown = list(self.messages[: self.first])
        if state.omitted:
            shown.append(self._make_stand_in())
            kept = (index for index in range(self.first, start) if self.is_kept(index))
            shown += [self.messages[index] for index in kept]
        notes = {note.index: note.text for note in state.notes}
        for index in range(start, len(self.messages)):
            message = self.messages[index]
            if isinstance(message, ToolMessage) and index in notes:
                message = structs.replace(message, text=notes[index])
            shown.append(message)
        return tuple(shown)

    def starts(self) -> list[int]:
        """Where the shown part may begin: nowhere between a call and its results."""
        return [
            index
            for index in range(self.start, len(self.messages))
            if not isinstance(self.messages[index], ToolMessage)
        ]

    def last_turns(self, count: int) -> int:
        """The index at which the last turns of the model begin; `first` where there are fewer."""
        for index in range(len(self.messages) - 1, self.first - 1, -1):
            if isinstance(self.messages[index], AssistantMessage):
                count -= 1
                if count <= 0:
                    return index
        return self.first

    def _make_stand_in(self) -> UserMessage:
        """What the model is told of the messages that are left out."""
        state = self.state
        handles = self._find_handles()
        count = self.count_omitted(self.start, since=self.first)
        text = (
            f"(Summary of the earlier conversation, {count} messages:)\n{state.summary}"
            if state.summary
            else f"({count} earlier messages of this conversation are left out here.)"
        )
        if handles:
            text += "\n(Results that are stored, by tool: " + "; ".join(handles) + ")"
        return UserMessage(text=text)

    def _find_handles(self) -> list[str]:
        """The handles of results among the messages that are left out, the latest ones."""
        notes = {note.index: note.text for note in self.state.notes}
        found: list[str] = []
        for index in range(self.start - 1, self.first - 1, -1):
            message = self.messages[index]
            if not isinstance(message, ToolMessage):
                continue
            handles = _HANDLE.findall(notes.get(index, message.text[-1_000:]))
            if handles:
                found.append(f"{message.name} {handles[-1]}")
            if len(found) == _MAX_HANDLES:
                break
        return found[::-1]
