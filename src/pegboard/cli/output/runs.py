"""A run on a terminal: its progress while it goes on, and a waterfall at the end."""

import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import typer
from msgspec import convert

from pegboard.cli.atomic_write import write_file
from pegboard.cli.client.port import Answer, BoardClient
from pegboard.cli.exit_codes import Exit
from pegboard.cli.output.questions import (
    DECLINED,
    ask_beside,
    ask_question,
    describe_question,
    send_reply,
)
from pegboard.cli.output.tables import format_time, note, say, say_json
from pegboard.core.graph import NodeState
from pegboard.core.run import PendingStep, RunResult
from pegboard.errors import PegboardError
from pegboard.rendering.text import waterfall

_LAST_NEWS = 0.2
"""Seconds to wait for the last events of a suspended run."""

_LATE_NEWS = 5.0
"""Seconds to wait for stored events to be printed on a busy machine."""

_LOOK_AGAIN = 0.02
_PAUSED_YET = 0.1
"""Seconds between two checks whether a run is paused."""

_TAKEOVERS = {
    "lost": "the server process was lost, and another one took over",
    "stopped": "the server process was stopped, and another one took over",
}
_CODES = {NodeState.COMPLETED: Exit.DONE, NodeState.WAITING: Exit.UNAVAILABLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPrompts:
    """What becomes of the questions that tools ask while a run is followed.

    Attributes:
        options: Options for suggested commands, as from `explicit_options`.
        is_kept: Whether the run is stored, so that another command can answer.
        may_prompt: Whether a person at the terminal may be asked.
    """

    options: str = ""
    is_kept: bool = True
    may_prompt: bool = True

    async def answer(self, client: BoardClient, run_id: str, data: Mapping[str, Any]) -> None:
        """Prompt for the answer of a question, or print how it can be given."""
        question = str(data["question"])
        send = partial(client.answer_run_question, run_id, question)
        how = f"  pegboard runs answer {run_id} {quote(question)}{self.options}  # or --decline"
        if self.may_prompt and all(it.isatty() for it in (sys.stdin, sys.stdout, sys.stderr)):
            if (reply := await ask_beside(partial(ask_question, data))) is not None:
                await send_reply(reply, send)
            elif self.is_kept:
                note(how)
            else:
                await send_reply(DECLINED, send)
            return
        note(describe_question(data))
        if self.is_kept:
            note(how)
            return
        note("Declined: there is no terminal to answer at, and the run is not stored (--data DIR).")
        await send_reply(DECLINED, send)


async def watch_run(
    client: BoardClient,
    run_id: str,
    *,
    after: int = 0,
    quiet: bool,
    questions: QuestionPrompts,
) -> Answer:
    """Follow a run until it is suspended or ends, printing events on stderr; return its state.

    Args:
        client: The board that executes it.
        run_id: Which run.
        after: Print only events after this one.
        quiet: Print no events but questions of tools.
        questions: Handles these.
    """
    told = [after]
    telling = asyncio.create_task(
        _print_events(client, run_id, told, quiet=quiet, questions=questions)
    )
    try:
        return await client.wait_for_run(run_id)
    finally:
        await asyncio.wait([telling], timeout=0.0 if quiet else _LAST_NEWS)
        if not quiet:
            await _wait_for_late_news(client, run_id, told, telling)
        telling.cancel()
        await asyncio.wait([telling])


async def _wait_for_late_news(
    client: BoardClient, run_id: str, told: list[int], telling: asyncio.Task[None]
) -> None:
    with suppress(PegboardError, TimeoutError):
        async with asyncio.timeout(_LATE_NEWS):
            while told[-1] < await client.last_event(run_id) and not telling.done():
                await asyncio.wait([telling], timeout=_LOOK_AGAIN)


async def pause_run(client: BoardClient, run_id: str) -> Answer:
    """Pause a run and wait until none of its steps is running; return its state.

    Raises:
        RunNotFound: There is no such run.
        Unavailable: It cannot be executed now.
    """
    run = await client.control_run(run_id, "pause")
    settling = asyncio.create_task(client.wait_for_run(run_id))
    try:
        while run["state"] != NodeState.PAUSED:
            if (await asyncio.wait([settling], timeout=_PAUSED_YET))[0]:
                return settling.result()
            run = await client.show_run(run_id)
        return run
    finally:
        settling.cancel()
        await asyncio.wait([settling])


async def write_drawings(
    client: BoardClient, run_id: str, *, svg: Path | None, timeline: Path | None
) -> None:
    """Write the requested SVG files of a run.

    Raises:
        ConfigError: A file cannot be written.
        InvalidRequest: The run has too many steps for an SVG.
    """
    if svg is not None:
        write_file(svg, await client.draw_run(run_id, "svg"))
    if timeline is not None:
        write_file(timeline, await client.draw_run(run_id, "timeline"))


def print_and_exit(run: Answer, *, json: bool, options: str = "", is_kept: bool = True) -> None:
    """Print a run and exit with the code of its state; arguments as for `print_run`."""
    if json:
        say_json(run)
    else:
        print_run(run, options=options, is_kept=is_kept)
    raise typer.Exit(exit_code_of(run))


def exit_code_of(run: Answer) -> Exit:
    """The exit code for the state of a run."""
    return _CODES.get(NodeState(run["state"]), Exit.FAILED)


def print_run(run: Answer, *, options: str = "", is_kept: bool = True) -> None:
    """Print a run as text: its steps on a time line, its output, and what it waits for.

    Args:
        run: The run.
        options: Options for suggested commands, as from `explicit_options`.
        is_kept: Whether the run is stored.
    """
    result = convert(run, RunResult)
    say(f"{result.run_id}  {result.state.value}  {run['graph']}".rstrip())
    say(waterfall(result).rstrip("\n"))
    for item in run.get("takeovers", ()):
        note(f"{format_time(item['at'])}  {_TAKEOVERS.get(item['cause'], _TAKEOVERS['lost'])}")
    if result.error is not None:
        note(f"pegboard: {result.error.get('message') or result.error['code']}")
        error_id = result.error.get("error_id")
        if error_id and is_kept:
            note(f"  pegboard history --error {error_id}{options}")
    for item in result.pending:
        note(_describe_pending(item))
        if is_kept:
            note(f"  {_command(result.run_id, item)}{options}{_choices(item)}")
    for asked in run.get("questions", ()):
        note(describe_question(asked))
        note(f"  pegboard runs answer {result.run_id} {asked['id']}{options}  # or --decline")
    if result.pending and not is_kept:
        note("The run ends here because nothing is stored: use --data DIR to resume it later.")
    if result.state is NodeState.COMPLETED:
        say_json(result.output)


def _describe_pending(item: PendingStep) -> str:
    what = item.message or item.event or ("" if item.until is None else format_time(item.until))
    return f"waits for {item.kind} at {item.step or 'the whole run'}: {what}"


def _command(run_id: str, item: PendingStep) -> str:
    """The command that continues the run."""
    match item.kind:
        case "time":
            return f"pegboard runs resume {run_id}"
        case "event":
            return f"pegboard runs send {run_id} {quote(item.event)} MESSAGE"
        case _:
            answer = item.choices[0] if item.kind == "approval" else "ANSWER"
            return f"pegboard runs answer {run_id} {quote(item.id)} {answer}"


def _choices(item: PendingStep) -> str:
    """The other possible answers, as a shell comment."""
    others = item.choices[1:] if item.kind == "approval" else item.choices
    return f"  # {'or ' if others != item.choices else ''}{', '.join(others)}" if others else ""


async def _print_events(
    client: BoardClient, run_id: str, told: list[int], *, quiet: bool, questions: QuestionPrompts
) -> None:
    """Print events as they happen; their sequence numbers are appended to `told`."""
    async for event in client.follow_run(run_id, after=told[-1]):
        told.append(event.sequence)
        data = event.data
        if event.kind == "question_required":
            await questions.answer(client, run_id, data)
        elif not quiet and event.kind == "node_changed" and data["state"] != "ready":
            detail = data.get("reason") or data.get("error_code") or data.get("tool") or ""
            note(f"{data['state']:<12} {data['node']}  {detail}".rstrip())


def list_questions(runs: Iterable[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """A row for each question, by whose id `pegboard runs answer` answers it."""
    for run in runs:
        for item in run["pending"]:
            begun = format_time(run["created_at"])
            yield run["run_id"], begun, run["graph"], item["id"], item.get("message", "")
