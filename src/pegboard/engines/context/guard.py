"""`ContextGuard`: fits each request of an agent into the window of its model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs, to_builtins

from pegboard.core.model_messages import Message, ModelTool, ModelUsage, UserMessage
from pegboard.core.ports.chat_model import ChatModel
from pegboard.engines.context.hard_guard import check_room
from pegboard.engines.context.history_summary import summarize_history
from pegboard.engines.context.limits import ContextLimits
from pegboard.engines.context.result_budget import share_results
from pegboard.engines.context.stale_results import StoreText, clear_stale_results
from pegboard.engines.context.token_estimate import TokenEstimate, measure_message
from pegboard.engines.context.view import ContextState, ContextView
from pegboard.engines.context.window import drop_oldest
from pegboard.errors import ContextTooLong, PegboardError

Report = Callable[[Mapping[str, Any]], None]
"""Reports what a layer has done, as the data of an event `compacted`."""
_TRIGGER, _TARGET = 0.8, 0.5
"""Shares of the room: above the first, requests are made smaller, down to the second if possible.

Much at once, so that the beginning of requests, which providers keep in a cache, changes seldom.
"""
_LEAST = 0.1
"""Share of the room that is to be saved; less is not worth a changed beginning."""
_LEARNT = 0.7
"""Share of a request that was too long, which the next one may have."""


class FittedContext(Struct, frozen=True, kw_only=True):
    """A request that fits.

    Attributes:
        messages: What the model is shown.
        state: What it is not shown.
        units: The estimated size, to be compared with what the provider counts.
        usage: Of the model that wrote a summary.
    """

    messages: tuple[Message, ...]
    state: ContextState
    units: int
    usage: ModelUsage = ModelUsage()


class ContextGuard:
    """Decides what of a conversation a model is shown, for one attempt at a run.

    What it has decided is a `ContextState`, recorded with each turn and given back by `restore`.

    Args:
        limits: The settings.
        model: The name of the model, for messages.
        window: Tokens of its window; None when it is not known: then only refusals of the
            provider make requests smaller.
        tools: What each request lists.
        question: The index of the message that the run answers.
        store: Stores what is cleared.
        writer: The model that writes summaries; None for none.
    """

    def __init__(
        self,
        limits: ContextLimits,
        *,
        model: str,
        window: int | None,
        tools: Sequence[ModelTool],
        question: int,
        store: StoreText,
        writer: ChatModel | None = None,
    ) -> None:
        self.state = ContextState()
        self._limits = limits
        self._model = model
        self._window_room = limits.room(window)
        self._writer = writer
        self._question = question
        self._store = store
        self._estimate = TokenEstimate(tools)
        self._sizes: list[int] = []
        self._total = self._kept = 0

    @property
    def room(self) -> int | None:
        """Tokens of a request; None where nothing is known."""
        return self.state.room or self._window_room

    def restore(self, state: ContextState | None, *, units: int, counted: int) -> None:
        """Take over what a turn has recorded.

        Args:
            state: As of its `FittedContext`; None when it was not changed.
            units: The same.
            counted: The input tokens that the provider counted; 0 for unknown.
        """
        if state is not None:
            self.state = state
        self._estimate.correct(units, counted)

    def limit_results(self, messages: Sequence[Message], count: int) -> int:
        """Layer 1: the bytes of each result of a turn.

        Args:
            messages: The conversation; its last message asks for the calls.
            count: The number of calls.
        """
        room = self.room
        free: int | None = None
        if room is not None:
            view = self._view(messages)
            units = self._estimate.tool_units + view.sizes[-1] + sum(view.sizes[: view.first])
            units += self._kept
            free = max(0, int(room / self._estimate.scale) - units)
        return share_results(self._limits, count=count, free_units=free)

    async def fit(self, messages: Sequence[Message], report: Report) -> FittedContext:
        """Layers 2 to 5: a request with these messages that fits.

        Raises:
            ContextTooLong: What has to be shown does not fit.
        """
        view, room, usage = self._view(messages), self.room, ModelUsage()
        if room is not None and view.tokens > room * _TRIGGER:
            view, usage = await self._reduce(view, room, report)
            try:
                check_room(view, room=room, model=self._model)
            except ContextTooLong:
                report({"layer": "guard", "tokens": view.tokens, "room": room})
                raise
        self.state = view.state
        return FittedContext(messages=view.show(), state=view.state, units=view.units, usage=usage)

    def learn_refusal(self, fitted: FittedContext, report: Report) -> None:
        """Learn that the provider refused a request as too long, so that the next one is smaller.

        What is learnt holds for the rest of the run.
        """
        tokens = self._estimate.tokens(fitted.units)
        room = int(tokens * _LEARNT)
        self.state = structs.replace(self.state, room=room)
        report({"layer": "guard", "tokens": tokens, "room": room})

    async def _reduce(
        self, view: ContextView, room: int, report: Report
    ) -> tuple[ContextView, ModelUsage]:
        """The layers in order; with the current turn alone where the last turns do not fit."""
        usage = ModelUsage()
        for keep in (self._limits.keep_turns, 1):
            least = 0 if view.tokens > room else int(room * _LEAST)
            view = await self._clear_results(view, room, report, keep_turns=keep, least=least)
            if view.tokens > room * _TRIGGER and not usage.requests:
                view, usage = await self._summarize(view, room, report, keep_turns=keep)
            view = self._drop_oldest(view, room, report, keep_turns=keep)
            if view.tokens <= room:
                break
        return view, usage

    async def _clear_results(
        self, view: ContextView, room: int, report: Report, *, keep_turns: int, least: int
    ) -> ContextView:
        before, notes = view.tokens, len(view.state.notes)
        target = int(room * _TARGET)
        view = await clear_stale_results(
            view, self._store, keep_turns=keep_turns, target=target, least=least
        )
        if count := len(view.state.notes) - notes:
            report({"layer": "results", "count": count, "before": before, "after": view.tokens})
        return view

    async def _summarize(
        self, view: ContextView, room: int, report: Report, *, keep_turns: int
    ) -> tuple[ContextView, ModelUsage]:
        """A summary in place of what came before; without one where no model can write it."""
        writer = self._writer
        if writer is None:
            return view, ModelUsage()
        model_room = self._limits.room(writer.context_window) or room
        try:
            found = await summarize_history(
                view, writer, keep_turns=keep_turns, room=room, model_room=min(model_room, room)
            )
        except PegboardError as error:
            report({"layer": "history", "error_code": error.code})
            return view, ModelUsage()
        if found is None:
            return view, ModelUsage()
        shorter = view.replace(omitted=found.start, summary=found.text)
        usage = found.response.usage
        report(
            {
                "layer": "history",
                "count": view.count_omitted(found.start),
                "before": view.tokens,
                "after": shorter.tokens,
                "model": found.response.model,
                "usage": to_builtins(usage),
            }
        )
        return shorter, usage

    def _drop_oldest(
        self, view: ContextView, room: int, report: Report, *, keep_turns: int
    ) -> ContextView:
        before, target = view.tokens, int(room * _TARGET)
        dropped = drop_oldest(view, room=room, target=target, keep_turns=keep_turns)
        if dropped is not view:
            count, after = view.count_omitted(dropped.start), dropped.tokens
            report({"layer": "window", "count": count, "before": before, "after": after})
        return dropped

    def _view(self, messages: Sequence[Message]) -> ContextView:
        for index in range(len(self._sizes), len(messages)):
            size = measure_message(messages[index])
            self._sizes.append(size)
            self._total += size
            if index >= self._question and isinstance(messages[index], UserMessage):
                self._kept += size
        return ContextView(
            messages,
            self.state,
            sizes=self._sizes,
            question=self._question,
            estimate=self._estimate,
            total=self._total,
        )
