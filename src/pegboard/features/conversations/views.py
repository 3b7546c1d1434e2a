"""Conversations for display: as JSON-compatible data, and as Markdown."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from pegboard.core.ports.conversation_files import ConversationFileList
from pegboard.core.ports.conversation_store import Conversation, Exchange
from pegboard.features.conversations.citation_views import view_citation
from pegboard.features.conversations.history import find_branch
from pegboard.features.conversations.message_files import describe_message
from pegboard.features.conversations.stream import encode_position

_DELETED = "This document was deleted."
_MARKUP = re.compile(r"([\\`*_\[\]<>&|~])")
_DIRECTION = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that set the direction of the text around them."""
_INTERNAL = ("principal", "tenant")
_INTERNAL_OF_EXCHANGE = ("principal", "request", "read_by")


def view_conversation(
    conversation: Conversation, exchanges: Sequence[Exchange] | None = None
) -> dict[str, Any]:
    """A conversation as data; with its exchanges if they are given."""
    data: dict[str, Any] = to_builtins(conversation)
    for name in _INTERNAL:
        data.pop(name)
    grants = data.pop("grants")
    if exchanges is not None:
        data["grants"] = [_view_grant(item) for item in grants]
        data["exchanges"] = [view_exchange(item) for item in exchanges]
    return data


def _view_grant(grant: Mapping[str, Any]) -> dict[str, Any]:
    """A standing approval as data."""
    names = ("id", "tool", "version", "reason", "approval", "granted_by", "granted_at")
    is_narrow = bool(grant.get("arguments_digest"))
    return {
        **{name: grant[name] for name in names},
        "scope": "arguments" if is_narrow else "tool",
        "arguments": grant.get("shown"),
    }


def view_exchange(exchange: Exchange) -> dict[str, Any]:
    """A message with its answer as data."""
    data: dict[str, Any] = to_builtins(exchange)
    for name in _INTERNAL_OF_EXCHANGE:
        data.pop(name)
    data["citations"] = [view_citation(item) for item in exchange.citations]
    data["position"] = encode_position(data.pop("number"), 0)
    return data


def view_files(found: ConversationFileList) -> dict[str, Any]:
    """The files of a conversation as data."""
    return {"files": [to_builtins(file) for file in found.files], "has_more": found.has_more}


def render_markdown(conversation: Conversation, exchanges: Sequence[Exchange]) -> str:
    """The branch that is shown, as a document for people."""
    lines = [f"# {conversation.title or 'Conversation'}", ""]
    for item in find_branch(exchanges, conversation.head):
        if item.state in {"withdrawn", "queued", "steered"}:  # the answer has what steered it
            continue
        lines += ["## Question", "", describe_message(item), ""]
        for message in item.messages:
            lines += _render_message(message)
        lines += _render_citations(item)
        if item.error is not None:
            lines += [f"*It failed: {item.error.get('message', '')}*", ""]
        elif item.state == "cancelled":
            lines += ["*It was stopped.*", ""]
    return "\n".join(lines)


def _render_citations(exchange: Exchange) -> list[str]:
    """What the numbers of an answer stand for, and what contradicts."""
    lines: list[str] = []
    for item in exchange.citations:
        page = f", page {item.page}" if item.page else ""
        quote = _make_inert(item.quote)
        told = f"{_make_inert(item.title)}{page}: “{quote}”" if quote else _DELETED
        lines.append(f"* [{item.number}] {told}")
    lines += [
        f"* [{item.first}] and [{item.second}] contradict each other."
        for item in exchange.conflicts
    ]
    return ["## Sources", "", *lines, ""] if lines else []


def _make_inert(text: str) -> str:
    """A line of a document as plain text: no markup, no HTML, no change of direction beyond it.

    Right-to-left text keeps its own direction; characters that override it are dropped.
    """
    line = " ".join(_DIRECTION.sub("", text).split())
    return _MARKUP.sub(r"\\\1", line)


def _render_message(message: Mapping[str, Any]) -> list[str]:
    text = str(message.get("text", ""))
    match message.get("role"):
        case "assistant":
            calls = [
                f"* `{call['name']}` `{call['arguments']}`" for call in message.get("calls", ())
            ]
            return [
                *(("## Answer", "", text, "") if text else ()),
                *calls,
                *([""] if calls else ()),
            ]
        case "user" if not message.get("is_note"):
            return ["## Question", "", text, ""]
        case _:
            return []
