"""Questions of tools on a terminal: who asks, and a prompt for each field of the form."""

import asyncio
import json
import os
import select
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar, cast

import typer

from pegboard.cli.output.tables import note, to_plain
from pegboard.errors import AlreadyAnswered, InvalidRequest

T = TypeVar("T")
Reply = tuple[str, dict[str, Any] | None]
"""The action of an answer, and its content."""
DECLINED: Reply = ("decline", None)
_WARNING = "This text is not Pegboard's. Never enter a password, a key or a card number here."
_YES, _NO = frozenset({"y", "yes", "true"}), frozenset({"n", "no", "false"})


class LinePrompt(Protocol):
    """Asks for a line at the terminal; raises `typer.Abort` at the end of the input."""

    def __call__(
        self, text: str, default: str = "", *, show_default: bool = True, err: bool = False
    ) -> str: ...


def describe_question(data: Mapping[str, Any]) -> str:
    """Who asks what; the text is foreign, and printed without control characters."""
    tool, source = str(data.get("tool", "")), str(data.get("source", ""))
    kind = "MCP server" if data.get("source_kind") == "mcp" else "source"
    asks = f"the {kind} '{source}' asks, by its tool {tool}" if source else f"the tool {tool} asks"
    lines = "\n".join(f"  | {line}" for line in str(data.get("text", "")).splitlines())
    page = f"\n  page: {data['url']}" if data.get("url") else ""
    return to_plain(f"{asks}:\n{lines}{page}")


def ask_question(data: Mapping[str, Any], prompt: LinePrompt = typer.prompt) -> Reply:
    """Let the person at the terminal answer, or decline."""
    note(describe_question(data))
    note(_WARNING)
    if data.get("url"):
        done = prompt("Have you opened the page? (y, n = decline)", "n", err=True)
        return ("accept", None) if done.lower() in _YES else DECLINED
    schema: Mapping[str, Any] = data.get("schema") or {}
    fields = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
    usual = "y" if fields else "n"  # a question without a form is a consent
    if prompt("Answer? (y, n = decline)", usual, err=True).lower() not in _YES:
        return DECLINED
    required: Sequence[str] = schema.get("required") or ()
    content: dict[str, Any] = {}
    for name, field in fields.items():
        value = _ask_field(name, field, prompt, is_required=name in required)
        if value is not None:
            content[name] = value
    return "accept", content


async def ask_beside(ask: Callable[[LinePrompt], T]) -> T | None:
    """Ask in a thread, so that what this process runs goes on; None at the end of the input.

    Cancelling it ends the prompt: what is typed later is read by the next one. Stdin and stderr
    must be a terminal, which gives its lines one by one.

    Args:
        ask: Asks by the prompt that it is given.
    """
    is_over, end = os.pipe()

    def run() -> T:
        try:
            return ask(partial(_ask_line, is_over))
        finally:
            os.close(is_over)

    try:
        return await asyncio.to_thread(run)
    except typer.Abort:  # the end of the input
        return None
    finally:
        os.close(end)


def _ask_line(
    is_over: int, text: str, default: str = "", *, show_default: bool = True, err: bool = False
) -> str:
    """A `LinePrompt` on a terminal that ends when the other end of this pipe is closed."""
    stream = sys.stderr if err else sys.stdout
    stream.write(f"{text} [{default}]: " if show_default and default else f"{text}: ")
    stream.flush()
    readable, _, _ = select.select([sys.stdin, is_over], [], [])
    line = "" if is_over in readable else sys.stdin.readline()
    if not line:
        raise typer.Abort
    return line.strip() or default


async def send_reply(
    reply: Reply, send: Callable[[str, dict[str, Any] | None], Awaitable[object]]
) -> None:
    """Send an answer; one that is refused becomes a refusal, and one that is late is reported.

    Args:
        reply: The answer.
        send: Sends an action and its content.
    """
    try:
        await send(*reply)
    except AlreadyAnswered as error:
        note(str(error))
    except InvalidRequest as error:
        note(f"{error} It is declined.")
        await send("decline", None)


def read_reply(data: Mapping[str, Any], answer: str, *, decline: bool) -> Reply:
    """The reply that the arguments of a command give, else the person at the terminal.

    Args:
        data: The question.
        answer: JSON of what the form asks for, or the value of its only field; empty to be asked.
        decline: Whether to decline.

    Raises:
        InvalidRequest: There is neither an answer nor a terminal, or both answers.
    """
    if decline:
        if answer:
            raise InvalidRequest("Give either an ANSWER or --decline.")
        return DECLINED
    if not answer:
        if not sys.stdin.isatty():
            raise InvalidRequest("There is no terminal to ask at: give an ANSWER or --decline.")
        return ask_question(data)
    if data.get("url"):
        return "accept", None
    schema: Mapping[str, Any] = data.get("schema") or {}
    fields = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
    try:
        value = json.loads(answer)
    except ValueError:
        value = answer
    if isinstance(value, dict):
        return "accept", cast("dict[str, Any]", value)
    if len(fields) != 1:
        raise InvalidRequest(
            f"The answer is a JSON object with {', '.join(fields) or 'no fields'}."
        )
    name, field = next(iter(fields.items()))
    return "accept", {name: answer if field.get("type") == "string" else value}


def _ask_field(
    name: str, field: Mapping[str, Any], prompt: LinePrompt, *, is_required: bool
) -> Any:
    """The value of one field; None where it is left out."""
    while True:
        default = field.get("default", "")
        typed = prompt(
            to_plain(_label(name, field, is_required=is_required)),
            _as_text(default),
            show_default=default != "",
            err=True,
        ).strip()
        if not typed and not is_required:
            return None
        try:
            return _read(field, typed)
        except ValueError as error:
            note(to_plain(f"{name}: {error}"))


def _label(name: str, field: Mapping[str, Any], *, is_required: bool) -> str:
    items = cast("Mapping[str, Any]", field.get("items") or {})
    choices: Sequence[Any] = field.get("enum") or items.get("enum") or ()
    about = [str(item) for item in (field.get("title"), field.get("description")) if item]
    if choices:
        about.append(f"one of {', '.join(map(str, choices))}")
    if field.get("type") == "array":
        about.append("several by commas")
    elif field.get("type") in {"integer", "number"}:
        about.append("a number")
    elif field.get("type") == "boolean":
        about.append("yes or no")
    if not is_required:
        about.append("optional")
    return f"{name} ({'; '.join(about)})" if about else name


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _read(field: Mapping[str, Any], typed: str) -> Any:
    """The typed value as the field wants it.

    Raises:
        ValueError: It is another kind of value.
    """
    match field.get("type"):
        case "integer":
            return int(typed)
        case "number":
            return float(typed)
        case "boolean":
            if typed.lower() not in _YES | _NO:
                raise ValueError("write yes or no")
            return typed.lower() in _YES
        case "array":
            return [item.strip() for item in typed.split(",") if item.strip()]
        case _:
            if field.get("enum") and typed not in field["enum"]:
                raise ValueError(f"choose one of {', '.join(map(str, field['enum']))}")
            return typed
