"""The context budget as a whole: what holds of each request, whatever the conversation."""

import asyncio
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.context.made import Shelf, a_conversation, a_turn, orphans

from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    ModelUsage,
    SystemMessage,
    UserMessage,
)
from pegboard.engines.context import ContextGuard, ContextLimits, ContextState, FittedContext
from pegboard.engines.context.token_estimate import measure_message
from pegboard.errors import ContextTooLong, Unavailable
from pegboard.testing import ScriptedModel, Turn

SIZES = st.lists(st.integers(0, 40_000), min_size=0, max_size=4)
TURNS = st.lists(SIZES, min_size=1, max_size=8)


def _ignore(_data: Mapping[str, Any]) -> None:
    pass


def a_guard(
    window: int | None, shelf: Shelf, question: int, writer: ScriptedModel | None = None
) -> ContextGuard:
    return ContextGuard(
        ContextLimits(),
        model="scripted:model",
        window=window,
        tools=(),
        question=question,
        store=shelf.store,
        writer=writer,
    )


@given(
    history=TURNS,
    turns=TURNS,
    window=st.integers(2_000, 60_000),
    density=st.floats(0.3, 2.0),
    steered=st.integers(0, 8),
)
def test_each_request_fits_and_keeps_what_it_must(
    history: list[list[int]], turns: list[list[int]], window: int, density: float, steered: int
) -> None:
    async def work() -> None:
        messages: list[Message] = [SystemMessage(text="Be brief.")]
        for number, sizes in enumerate(history):
            messages += [UserMessage(text=f"earlier {number}"), *a_turn(number, *sizes)]
        question = len(messages)
        messages.append(UserMessage(text="What now?"))
        shelf = Shelf()
        guard = a_guard(window, shelf, question)
        room = guard.room or 0
        guard.restore(None, units=1_000, counted=int(1_000 * density))
        for number, sizes in enumerate(turns):
            asking = a_turn(number, *sizes)[0]
            most = guard.limit_results([*messages, asking], len(sizes))
            messages += a_turn(number, *(min(size, most) for size in sizes))
            if number == steered:
                messages.append(UserMessage(text="in French"))
            try:
                fitted = await guard.fit(messages, _ignore)
            except ContextTooLong:
                assert _least_units(messages, question) * density > room - _NOTE
                return
            assert fitted.units == sum(map(measure_message, fitted.messages))
            assert fitted.units * density <= room + 1
            _check_shown(fitted, messages, question, shelf)
            guard.restore(fitted.state, units=fitted.units, counted=int(fitted.units * density))

    asyncio.run(work())


_NOTE = 1_000
"""Tokens of the note in place of what is left out, at most."""


def _last_turn(messages: list[Message]) -> int:
    return max(n for n, message in enumerate(messages) if isinstance(message, AssistantMessage))


def _least_units(messages: list[Message], question: int) -> int:
    """The size of what has to be shown."""
    last = _last_turn(messages)
    people = [item for item in messages[question:last] if isinstance(item, UserMessage)]
    return sum(map(measure_message, [messages[0], *people, *messages[last:]]))


def _check_shown(
    fitted: FittedContext, messages: list[Message], question: int, shelf: Shelf
) -> None:
    shown, last = list(fitted.messages), _last_turn(messages)
    people = [item for item in messages[question:] if isinstance(item, UserMessage)]
    assert shown[0] == messages[0]
    assert [item for item in shown if item in people] == people
    assert shown[-len(messages[last:]) :] == messages[last:]
    assert not orphans(shown)
    for note in fitted.state.notes:
        (handle,) = [handle for handle in shelf.texts if handle in note.text]
        assert shelf.texts[handle] == messages[note.index].text


async def test_what_each_layer_has_done_is_reported() -> None:
    messages, question = a_conversation([9_000], *[[400] * 30] * 5, [9_000])
    events: list[Mapping[str, Any]] = []
    guard = a_guard(8_000, Shelf(), question)
    fitted = await guard.fit(messages, events.append)

    assert [event["layer"] for event in events] == ["results", "window", "window"]
    for event, following in pairwise(events):
        assert event["before"] > event["after"] == following["before"]
    assert guard.state == fitted.state


async def test_where_no_window_is_known_everything_is_shown_until_a_refusal() -> None:
    messages, question = a_conversation([9_000], [9_000], [9_000])
    events: list[Mapping[str, Any]] = []
    guard = a_guard(None, Shelf(), question)

    whole = await guard.fit(messages, events.append)
    assert whole.messages == tuple(messages)
    guard.learn_refusal(whole, events.append)
    smaller = await guard.fit(messages, events.append)

    assert smaller.units < whole.units * 0.7
    assert [event["layer"] for event in events] == ["guard", "results"]
    assert guard.limit_results(messages, 1) < 32_000


async def test_a_turn_that_was_recorded_decides_in_later_attempts() -> None:
    messages, question = a_conversation([9_000], [9_000], [9_000])
    state = ContextState(omitted=question + 3)
    guard = a_guard(None, Shelf(), question)
    guard.restore(state, units=0, counted=0)

    assert len((await guard.fit(messages, _ignore)).messages) == len(messages) - 1


async def test_the_beginning_of_requests_changes_seldom() -> None:
    """Over 60 turns of a full window, most requests begin with the one before."""
    messages, question = a_conversation(history=1)
    guard = a_guard(20_000, Shelf(), question)
    before: tuple[Message, ...] = ()
    changed = 0
    for number in range(60):
        messages += a_turn(number, 2_000)
        fitted = await guard.fit(messages, _ignore)
        changed += fitted.messages[: len(before)] != before
        before = fitted.messages

    assert changed <= 20


async def test_what_cannot_fit_is_refused_and_reported() -> None:
    messages, question = a_conversation([90_000])
    events: list[Mapping[str, Any]] = []

    with pytest.raises(ContextTooLong):
        await a_guard(8_000, Shelf(), question).fit(messages, events.append)
    assert [event["layer"] for event in events] == ["guard"]


async def test_the_earlier_conversation_is_summed_up_once_and_the_summary_goes_on() -> None:
    messages, question = a_conversation(*[[400] * 9] * 8)
    events: list[Mapping[str, Any]] = []
    usage = ModelUsage(requests=1, input_tokens=700, output_tokens=30)
    writer = ScriptedModel(Turn(text="Ada wants a refund.", usage=usage), name="fast:mini")
    guard = a_guard(9_000, Shelf(), question, writer=writer)
    fitted = await guard.fit(messages, events.append)
    again = await guard.fit([*messages, *a_turn(9, 100)], events.append)

    assert [event["layer"] for event in events] == ["history"]
    assert (events[0]["model"], events[0]["usage"]["input_tokens"]) == ("mini", 700)
    assert events[0]["before"] > events[0]["after"]
    assert fitted.usage == usage
    assert again.usage == ModelUsage()
    assert "Ada wants a refund." in fitted.messages[1].text
    assert again.messages[: len(fitted.messages)] == fitted.messages
    assert [message.text for message in fitted.messages].count("What now?") == 1


async def test_without_a_summary_messages_are_left_out() -> None:
    messages, question = a_conversation(*[[400] * 9] * 8)
    events: list[Mapping[str, Any]] = []
    writer = ScriptedModel(Turn(error=Unavailable("busy")))
    await a_guard(9_000, Shelf(), question, writer=writer).fit(messages, events.append)

    assert [event["layer"] for event in events] == ["history", "window"]
    assert events[0]["error_code"] == "unavailable"
