"""The events of a conversation for those who watch it, made from what its runs have stored."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from msgspec import to_builtins

from pegboard.core.ports.conversation_store import Exchange
from pegboard.core.ports.run_store import RunEvent
from pegboard.engines.dag.step_events import place_event
from pegboard.errors import InvalidRequest
from pegboard.features.conversations.citation_views import view_citation

Position = tuple[int, int]
"""The number of an exchange, and the sequence of an event of its run."""
_LOOK_AGAIN = 1.0

_SHOWN = frozenset(
    {
        "step", "thinking", "text_delta", "usage", "tool_started", "tool_progress",
        "tool_finished", "approval_required", "credential_required", "message_received",
        "phase", "plan", "judgement", "step_text", "compacted", "citation", "conflict",
        "delegate_text", "tools_missing", "question_required", "question_settled",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatEvent:
    """One event of a conversation.

    Attributes:
        event: `run_started`, `text_delta`, `tool_started`, ..., `error`, `done`.
        data: JSON-compatible data; `message` is the exchange that it belongs to, and `at` the
            time in Unix seconds.
        id: By which a watcher goes on behind it; empty for an event that is not stored.
    """

    event: str
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str = ""


def encode_position(number: int, sequence: int) -> str:
    """The id of an event."""
    return f"{number}-{sequence}"


def read_position(text: str) -> Position | None:
    """The place of an event from its id; None for an empty one.

    Raises:
        InvalidRequest: It is no id of an event.
    """
    if not text:
        return None
    number, dash, sequence = text.partition("-")
    if not (dash and number.isdecimal() and sequence.isdecimal() and len(text) < 40):
        raise InvalidRequest("No event has this id: send the 'id' of the last event you received.")
    return int(number), int(sequence)


def to_chat_events(exchange: Exchange, event: RunEvent) -> Iterator[ChatEvent]:
    """What watchers see of an event of a run; nothing for most."""
    id_ = encode_position(exchange.number, event.sequence)
    if event.kind == "run_started":
        data = {**_of(exchange, event.at), "run_id": exchange.run_id, "text": exchange.text}
        yield ChatEvent(event="run_started", data=data, id=id_)
    elif (placed := place_event(str(event.data.get("node", "")), event.kind, event.data)) is None:
        return
    elif placed[0] in _SHOWN:
        kind, data = placed
        data.pop("node", None)
        own = {"received": data.pop("message")} if "message" in data else {}
        yield ChatEvent(event=kind, data={**data, **own, **_of(exchange, event.at)}, id=id_)


def make_end_events(exchange: Exchange, sequence: int) -> Iterator[ChatEvent]:
    """The last events of an exchange that has ended."""
    of_it = _of(exchange, exchange.finished_at or 0.0)
    if exchange.error is not None:
        error = dict(exchange.error)
        error["detail"] = error.pop("message", "")
        yield ChatEvent(event="error", data={**error, **of_it})
    if exchange.state == "withdrawn":
        yield ChatEvent(event="message_withdrawn", data=of_it)
    citations = [view_citation(item) for item in exchange.citations]
    conflicts: list[dict[str, Any]] = [to_builtins(item) for item in exchange.conflicts]
    for item in citations:
        yield ChatEvent(event="citation", data={**item, **of_it})
    for item in conflicts:
        yield ChatEvent(event="conflict", data={**item, **of_it})
    data = {
        **of_it,
        "citations": citations,
        "conflicts": conflicts,
        "left_out": exchange.left_out,
        "state": exchange.state,
        "text": exchange.answer,
        "finish": exchange.finish,
        "usage": dict(exchange.usage),
    }
    yield ChatEvent(event="done", data=data, id=encode_position(exchange.number, sequence))


def make_queued_event(exchange: Exchange) -> ChatEvent:
    """A message waits for the answer before it."""
    data = {**_of(exchange, exchange.created_at), "text": exchange.text}
    return ChatEvent(event="message_queued", data=data, id=encode_position(exchange.number, 0))


def _of(exchange: Exchange, at: float) -> dict[str, Any]:
    return {"conversation": exchange.conversation, "message": exchange.id, "at": at}


async def wait_for_news(news: asyncio.Event) -> None:
    """Wait for news of this process, or a moment for those of another."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LOOK_AGAIN):
            await news.wait()
