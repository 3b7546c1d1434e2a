"""Responses: an answer as one object with its items, and as events."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import json

from pegboard.core.model_messages import AssistantMessage, ModelUsage, ToolMessage
from pegboard.features.completions import (
    CompletionCall,
    CompletionEnd,
    CompletionEvent,
    CompletionText,
)
from pegboard.servers.http.openai.annotations import make_file_annotations
from pegboard.servers.http.openai.completions import find_error

_SERVER = "pegboard"
"""The label under which calls of this server's tools are shown."""
_REASONS: Mapping[str, str] = {
    "length": "max_output_tokens",
    "content_filter": "content_filter",
}
"""Why an answer is incomplete, by how its model ended it."""
Item = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseHead:
    """What a response repeats of its request.

    Attributes:
        id: Of the response.
        model: The name that was asked for.
        created: Unix seconds.
        previous: The response with which it goes on; None for none.
        is_json: Whether the answer is JSON, so that no other text is shown.
        echoed: Other parameters, as they were given.
    """

    id: str
    model: str
    created: int
    previous: str | None = None
    is_json: bool = False
    echoed: Mapping[str, Any] = field(default_factory=dict[str, Any])


def make_response(end: CompletionEnd | None, head: ResponseHead) -> dict[str, Any]:
    """An answer as one object; without an end it is in progress."""
    error = None if end is None else find_error(end)
    reason = None if end is None else _REASONS.get(end.finish)
    return {
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        **head.echoed,
        "id": head.id,
        "object": "response",
        "created_at": head.created,
        "status": _find_status(end),
        "model": head.model,
        "output": [] if end is None else make_items(end, head),
        "usage": None if end is None else _make_usage(end.usage),
        "error": None if error is None else _make_error(error),
        "incomplete_details": None if reason is None or error else {"reason": reason},
        "previous_response_id": head.previous,
    }


async def stream_response(
    events: AsyncIterator[CompletionEvent], head: ResponseHead
) -> AsyncGenerator[bytes]:
    """An answer as server-sent events; JSON comes in one, when it is checked."""
    stream = _EventStream(head.id)
    start = make_response(None, head)
    yield stream.encode("response.created", response=start)
    yield stream.encode("response.in_progress", response=start)
    async for event in events:
        match event:
            case CompletionText():
                for chunk in () if head.is_json else stream.add_text(event):
                    yield chunk
            case CompletionCall():
                for chunk in stream.add_call(event):
                    yield chunk
            case CompletionEnd():
                if head.is_json and event.text:
                    for chunk in stream.add_text(CompletionText(text=event.text, turn=1)):
                        yield chunk
                for chunk in stream.end_message():
                    yield chunk
                done = make_response(event, head)
                yield stream.encode(f"response.{done['status']}", response=done)


def make_items(end: CompletionEnd, head: ResponseHead) -> list[Item]:
    """The texts and calls of an answer, in their order; of one in JSON, its last text alone."""
    results = {item.call_id: item for item in end.messages if isinstance(item, ToolMessage)}
    said = [item for item in end.messages if isinstance(item, AssistantMessage)]
    items: list[Item] = []
    for number, message in enumerate(said, start=1):
        if message.text and (not head.is_json or (end.text and number == len(said))):
            item = _make_message(f"{head.id}_{len(items)}", message.text)
            item["content"][0]["annotations"] = make_file_annotations(message.text, end.citations)
            items.append(item)
        for call in message.calls:
            result = results.get(call.id)
            text = None if result is None else result.text
            is_error = result is not None and result.is_error
            items.append(_make_call(call.id, call.name, call.arguments, text, is_error=is_error))
    return items


class _EventStream:
    """Numbers events and items, and knows which message is open."""

    def __init__(self, id: str) -> None:  # noqa: A002 - its name in the format
        self._id = id
        self._sequence = 0
        self._count = 0
        self._turn = 0
        self._text = ""
        self._open: dict[str, tuple[int, Item]] = {}

    def encode(self, kind: str, **data: Any) -> bytes:
        """An event."""
        body = json.encode({"type": kind, "sequence_number": self._sequence, **data})
        self._sequence += 1
        return b"event: %s\ndata: %s\n\n" % (kind.encode(), body)

    def add_text(self, event: CompletionText) -> "list[bytes]":
        """More text: of the open message, or of a new one when the turn is new."""
        chunks: list[bytes] = []
        if event.turn != self._turn:
            chunks += self.end_message()
            self._turn = event.turn
            item = _make_message(self._message_id, "", status="in_progress")
            chunks.append(self._added(item | {"content": []}))
            part = item["content"][0]
            chunks.append(self.encode("response.content_part.added", part=part, **self._place))
        self._text += event.text
        delta: Item = {"delta": event.text, "logprobs": []}
        return [*chunks, self.encode("response.output_text.delta", **delta, **self._place)]

    def end_message(self) -> "list[bytes]":
        """Complete the open message; nothing when there is none."""
        if not self._turn:
            return []
        item = _make_message(self._message_id, self._text)
        done: Item = {"text": self._text, "logprobs": []}
        chunks = [
            self.encode("response.output_text.done", **done, **self._place),
            self.encode("response.content_part.done", part=item["content"][0], **self._place),
            self.encode("response.output_item.done", output_index=self._count, item=item),
        ]
        self._count += 1
        self._turn, self._text = 0, ""
        return chunks

    def add_call(self, event: CompletionCall) -> "list[bytes]":
        """The start or the end of a call."""
        if event.text is None:
            chunks = self.end_message()
            given = event.arguments
            arguments = given if isinstance(given, str) else json.encode(given or {}).decode()
            item = _make_call(event.id, event.tool, arguments, None)
            self._open[event.id] = (self._count, item)
            chunks.append(self._added(item))
            self._count += 1
            return chunks
        index, item = self._open.pop(event.id, (self._count, None))
        if item is None:
            return []
        done = _make_call(
            event.id, item["name"], item["arguments"], event.text, is_error=event.is_error
        )
        return [self.encode("response.output_item.done", output_index=index, item=done)]

    def _added(self, item: Item) -> bytes:
        return self.encode("response.output_item.added", output_index=self._count, item=item)

    @property
    def _message_id(self) -> str:
        return f"{self._id}_{self._count}"

    @property
    def _place(self) -> dict[str, Any]:
        return {"item_id": self._message_id, "output_index": self._count, "content_index": 0}


def _find_status(end: CompletionEnd | None) -> str:
    if end is None:
        return "in_progress"
    if find_error(end) is not None:
        return "failed"
    return "incomplete" if end.finish in _REASONS else "completed"


def _make_message(id: str, text: str, *, status: str = "completed") -> Item:  # noqa: A002 - as above
    part: Item = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "id": f"msg_{id.removeprefix('resp_')}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [part],
    }


def _make_call(
    id: str,  # noqa: A002 - as above
    name: str,
    arguments: str,
    text: str | None,
    *,
    is_error: bool = False,
) -> Item:
    status = "in_progress" if text is None else "failed" if is_error else "completed"
    error = {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": text}]}
    return {
        "id": id,
        "type": "mcp_call",
        "server_label": _SERVER,
        "name": name,
        "arguments": arguments,
        "status": status,
        "output": None if is_error else text,
        "error": error if is_error else None,
    }


def _make_error(error: dict[str, Any]) -> dict[str, Any]:
    limited = error["code"] == "rate_limited"
    code = "rate_limit_exceeded" if limited else "server_error"
    return {"code": code, "message": f"{error['message']} ({error['code']})"}


def _make_usage(usage: ModelUsage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
