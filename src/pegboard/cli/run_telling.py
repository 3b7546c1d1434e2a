"""A run on a terminal: its progress while it goes on, and a waterfall at the end."""

import asyncio
import sys
from pathlib import Path

import typer

from pegboard.cli.exits import Exit
from pegboard.cli.file_writing import write_whole
from pegboard.cli.output import note, say, say_json
from pegboard.core.graph import NodeState
from pegboard.features.runs import RunView
from pegboard.graphs.drawing import waterfall
from pegboard.runtime import Pegboard

_CODES = {NodeState.COMPLETED: Exit.DONE, NodeState.WAITING: Exit.UNAVAILABLE}


async def watched(board: Pegboard, run_id: str, *, quiet: bool) -> RunView:
    """Follow a run, telling what happens on stderr, until it rests; how it is then."""
    telling = None if quiet else asyncio.create_task(_told(board, run_id))
    try:
        return await board.runs.wait(run_id)
    finally:
        if telling is not None:
            await asyncio.wait([telling], timeout=0.2)
            telling.cancel()
            await asyncio.wait([telling])


def draw(view: RunView, *, svg: Path | None, timeline: Path | None) -> None:
    """Write the pictures of a run that are asked for.

    Raises:
        ConfigError: A file cannot be written.
        InvalidRequest: The run has more steps than a picture can show.
    """
    from pegboard.graphs import pictures

    if svg is not None:
        write_whole(svg, pictures.chart(view.graph, view.result))
    if timeline is not None:
        write_whole(timeline, pictures.timeline(view.result))


def tell(view: RunView, *, json: bool) -> None:
    """Say how a run is, and end with the code for it."""
    if json:
        say_json(view.to_dict())
    else:
        show(view)
    raise typer.Exit(_CODES.get(view.result.state, Exit.FAILED))


def show(view: RunView) -> None:
    """A run for people: what each step took, what it gave, and what it waits for."""
    result = view.result
    say(f"{view.id}  {result.state.value}  {view.graph.name or view.graph.id}".rstrip())
    say(waterfall(result).rstrip("\n"))
    if result.error is not None:
        note(f"pegboard: {result.error.get('message') or result.error['code']}")
    for item in result.pending:
        answers = f" [{' | '.join(item.choices)}]" if item.choices else ""
        what = item.message or item.event or "a time"
        note(f"waits for {item.kind} at {item.step}: {what}{answers}  (answer {item.id})")
    if result.state is NodeState.COMPLETED:
        say_json(result.output)


async def _told(board: Pegboard, run_id: str) -> None:
    async for event in board.runs.events(run_id):
        data = event.data
        if event.kind == "node_changed" and data["state"] != "ready":
            detail = data.get("reason") or data.get("error_code") or data.get("tool") or ""
            sys.stderr.write(f"{data['state']:<12} {data['node']}  {detail}".rstrip() + "\n")
