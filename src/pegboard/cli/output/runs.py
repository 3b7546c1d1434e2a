"""A run on a terminal: its progress while it goes on, and a waterfall at the end."""

import asyncio
from contextlib import suppress
from pathlib import Path
from shlex import quote

import typer

from pegboard.cli.atomic_write import write_whole
from pegboard.cli.exit_codes import Exit
from pegboard.cli.output.tables import moment, note, say, say_json
from pegboard.core.graph import NodeState
from pegboard.core.run import PendingStep
from pegboard.errors import PegboardError
from pegboard.features.runs import RunView
from pegboard.rendering.text import waterfall
from pegboard.runtime import Pegboard

_LAST_NEWS = 0.2
"""Seconds in which it is written down what happened last in a run that rests."""

_LATE_NEWS = 5.0
"""Seconds in which it is told what was written down, on a machine that has much to do."""

_LOOK_AGAIN = 0.02
_PAUSED_YET = 0.1
"""Seconds between two looks whether a run is paused."""

_CODES = {NodeState.COMPLETED: Exit.DONE, NodeState.WAITING: Exit.UNAVAILABLE}


async def watched(board: Pegboard, run_id: str, *, after: int = 0, quiet: bool) -> RunView:
    """Follow a run, telling what happens on stderr, until it rests; how it is then.

    Args:
        board: Who plays it.
        run_id: Which run.
        after: The event after which to begin; what came before was told to somebody else.
        quiet: Tell nothing.
    """
    told = [after]
    telling = None if quiet else asyncio.create_task(_tell_events(board, run_id, told))
    try:
        return await board.runs.wait(run_id)
    finally:
        if telling is not None:
            await asyncio.wait([telling], timeout=_LAST_NEWS)
            with suppress(PegboardError, TimeoutError):
                async with asyncio.timeout(_LATE_NEWS):
                    while told[-1] < await board.runs.last_event(run_id) and not telling.done():
                        await asyncio.wait([telling], timeout=_LOOK_AGAIN)
            telling.cancel()
            await asyncio.wait([telling])


async def paused(board: Pegboard, run_id: str) -> RunView:
    """Pause a run; how it is once nothing of it is being done, also if it waits for a moment.

    Raises:
        RunNotFound: There is no such run.
        Unavailable: It cannot be played here and now.
    """
    view = await board.runs.pause(run_id)
    settling = asyncio.create_task(board.runs.wait(run_id))
    try:
        while view.run.state is not NodeState.PAUSED:
            if (await asyncio.wait([settling], timeout=_PAUSED_YET))[0]:
                return settling.result()
            view = await board.runs.get(run_id)
        return view
    finally:
        settling.cancel()
        await asyncio.wait([settling])


def draw(view: RunView, *, svg: Path | None, timeline: Path | None) -> None:
    """Write the pictures of a run that are asked for.

    Raises:
        ConfigError: A file cannot be written.
        InvalidRequest: The run has more steps than a picture can show.
    """
    from pegboard.rendering import svg as pictures

    if svg is not None:
        write_whole(svg, pictures.chart(view.graph, view.result))
    if timeline is not None:
        write_whole(timeline, pictures.timeline(view.result))


def tell(view: RunView, *, json: bool, options: str = "", is_kept: bool = True) -> None:
    """Say how a run is, and end with the code for it; the rest as of `show`."""
    if json:
        say_json(view.to_dict())
    else:
        show(view, options=options, is_kept=is_kept)
    raise typer.Exit(_CODES.get(view.result.state, Exit.FAILED))


def show(view: RunView, *, options: str = "", is_kept: bool = True) -> None:
    """A run for people: what each step took, what it gave, and what it waits for.

    Args:
        view: The run.
        options: What a command needs to find it again, as `said_again` gives it.
        is_kept: Whether another command can find it at all.
    """
    result = view.result
    say(f"{view.id}  {result.state.value}  {view.graph.name or view.graph.id}".rstrip())
    say(waterfall(result).rstrip("\n"))
    if result.error is not None:
        note(f"pegboard: {result.error.get('message') or result.error['code']}")
    for item in result.pending:
        note(_waited_for(item))
        if is_kept:
            note(f"  {_command(view.id, item)}{options}{_choices(item)}")
    if result.pending and not is_kept:
        note("It ends here, since nothing is kept: run it with --data DIR to go on with it later.")
    if result.state is NodeState.COMPLETED:
        say_json(result.output)


def _waited_for(item: PendingStep) -> str:
    what = item.message or item.event or ("" if item.until is None else moment(item.until))
    return f"waits for {item.kind} at {item.step or 'the whole run'}: {what}"


def _command(run_id: str, item: PendingStep) -> str:
    """What to type so that the run goes on."""
    match item.kind:
        case "time":
            return f"pegboard runs resume {run_id}"
        case "event":
            return f"pegboard runs send {run_id} {quote(item.event)} MESSAGE"
        case _:
            answer = item.choices[0] if item.kind == "approval" else "ANSWER"
            return f"pegboard runs answer {run_id} {quote(item.id)} {answer}"


def _choices(item: PendingStep) -> str:
    """What else may be answered, as a comment for the shell."""
    others = item.choices[1:] if item.kind == "approval" else item.choices
    return f"  # {'or ' if others != item.choices else ''}{', '.join(others)}" if others else ""


async def _tell_events(board: Pegboard, run_id: str, told: list[int]) -> None:
    """Tell what happens; `told` gets the number of each event."""
    async for event in board.runs.events(run_id, after=told[-1]):
        told.append(event.sequence)
        data = event.data
        if event.kind == "node_changed" and data["state"] != "ready":
            detail = data.get("reason") or data.get("error_code") or data.get("tool") or ""
            note(f"{data['state']:<12} {data['node']}  {detail}".rstrip())
