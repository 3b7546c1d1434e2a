"""An answer on a terminal: its text on stdout, and beside it which tools are used."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import typer

from pegboard.cli.output.questions import LinePrompt
from pegboard.cli.output.tables import note, to_plain, without_controls

if TYPE_CHECKING:
    from pegboard.features.approvals.grants import Scope
    from pegboard.features.conversations import ChatEvent

_MAX_SHOWN = 100
_KEYS: "Mapping[Scope, str]" = {"once": "y", "arguments": "a", "tool": "t"}
_WORDS: "Mapping[Scope, str]" = {
    "once": "once",
    "arguments": "these arguments for the rest of the conversation",
    "tool": "this tool for the rest of the conversation",
}


class AnswerPrinter:
    """Prints an answer as it comes.

    Attributes:
        state: How it ended; empty while it has not.
        conversation: The id of the conversation; empty before the first event.
    """

    def __init__(self) -> None:
        self.state = ""
        self.conversation = ""
        self._is_in_line = False

    def print_event(self, event: "ChatEvent") -> None:
        """Print one event; kinds that it does not know are left out."""
        data = event.data
        self.conversation = str(data.get("conversation", self.conversation))
        match event.event:
            case "text_delta":
                self._write(str(data["text"]))
            case "plan":
                self._note(f"plan: {'; '.join(str(step['title']) for step in data['steps'])}")
            case "tool_started":
                self._note(f"{_indent(data)}* {data['tool']} {_shorten(data.get('arguments'))}")
            case "tool_progress" if "attempt" in data:
                self._note(
                    f"  try {data['attempt']} of {data['max_attempts']} in "
                    f"{float(data['delay']):.0f} s, after: {data['error_code']}"
                )
            case "tool_finished":
                self._note(f"{_indent(data)}  {_ending(data)}")
            case "message_queued":
                self._note("waiting for the answer in progress")
            case "tools_missing":
                self._note("\n".join(f"missing: {k}: {v}" for k, v in data["missing"].items()))
            case "error":
                self._note(f"error: {data.get('detail', '')}")
            case "done":
                self._end(data)
            case _:
                pass

    def _end(self, data: Mapping[str, Any]) -> None:
        self.state = str(data["state"])
        self._end_line()
        if self.state == "completed" and (told := _describe_end(data)):
            note(told)

    def _write(self, text: str) -> None:
        sys.stdout.write(to_plain(text) if sys.stdout.isatty() else without_controls(text))
        sys.stdout.flush()
        self._is_in_line = not text.endswith("\n")

    def _note(self, text: str) -> None:
        self._end_line()
        note(text)

    def _end_line(self) -> None:
        if self._is_in_line:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._is_in_line = False


def describe_missing_credential(data: Mapping[str, Any]) -> str:
    """The call that waits for a credential of its caller, and where to connect one."""
    link = f" Connect it at {data['link']}" if data.get("link") else ""
    return f"{data['tool']} needs an account of yours: {data['reason']}.{link}"


def describe_approval(data: Mapping[str, Any]) -> str:
    """The call that waits for an approval, in a line."""
    return f"{data['tool']} {_shorten(data.get('arguments'))} needs an approval: {data['reason']}"


def ask_for_scope(
    scopes: "Sequence[Scope]", prompt: LinePrompt = typer.prompt
) -> 'Scope | Literal["no"]':
    """Ask the person at the terminal what a call is approved for.

    Args:
        scopes: What is offered, besides no.
        prompt: Asks.
    """
    offered: dict[str, Scope] = {_KEYS[scope]: scope for scope in scopes}
    words = ", ".join(f"{key} = {_WORDS[scope]}" for key, scope in offered.items())
    while True:
        answer = prompt(f"Approve? ({words}, n = no)", "n", show_default=False, err=True)
        if answer.lower() in {*offered, "n"}:
            return offered.get(answer.lower(), "no")


def _describe_end(data: Mapping[str, Any]) -> str:
    """What a completed answer lacks; empty for nothing."""
    match data.get("finish"):
        case "length":
            return "The answer is cut off: the model reached its limit of output."
        case "content_filter":
            return "The answer is cut off: the content filter of the model's provider ended it."
        case _:
            return "" if data.get("text") else "The model gave no answer."


def _indent(data: Mapping[str, Any]) -> str:
    """Calls of an agent that was called stand below it."""
    return "  " if "parent" in data else ""


def _ending(data: Mapping[str, Any]) -> str:
    took = f"{float(data.get('duration_ms', 0)):.0f} ms"
    if data["state"] == "completed":
        return f"done in {took}: {_shorten(data.get('text', ''))}"
    return f"{data['state']}: {_shorten(data.get('text', ''))}"


def _shorten(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SHOWN else f"{line[: _MAX_SHOWN - 1]}…"
