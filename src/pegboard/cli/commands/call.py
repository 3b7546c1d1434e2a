"""`pegboard call NAME`: run one tool."""

import json as json_library
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.exit_codes import Exit, exit_code, exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    find_tool,
    settings,
    with_board,
)
from pegboard.cli.output.tables import note, say, say_json
from pegboard.errors import InvalidRequest, PegboardError

if TYPE_CHECKING:
    from pegboard.core.context import Arguments, Progress
    from pegboard.core.result import ToolResult
    from pegboard.runtime import Pegboard


def call(
    name: Annotated[str, typer.Argument(help="The tool's name or id.")],
    arguments: Annotated[
        str, typer.Argument(help="The arguments as a JSON object; `-` reads them from stdin.")
    ] = "",
    *,
    arg: Annotated[
        list[str] | None,
        typer.Option("--arg", "-a", help="`key=text` or `key:=json`; repeatable."),
    ] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(help="Idempotency key: the same key returns the first outcome (with --data)."),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds for the whole call; 0 for no limit.")
    ] = None,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Run a tool through the whole pipeline, and print its result."""
    import asyncio

    from pegboard.core.context import ToolContext

    async def run(opened: "Pegboard") -> "ToolResult":
        ctx: ToolContext[Any] = ToolContext(
            idempotency_key=idempotency_key,
            deadline=None if not timeout else opened.monotonic() + timeout,
            on_progress=_tell,
        )
        with suppress(PegboardError, TimeoutError):  # what is wrong is told by the call
            async with asyncio.timeout(timeout or None):
                await find_tool(opened, name)
        if chosen.data is None and _writes_files(opened):
            note(
                "without --data, files are written to a temporary folder that is deleted afterwards"
            )
        return await opened.call(name, given, ctx)

    def _writes_files(opened: "Pegboard") -> bool:
        spec = opened.find(name).spec if name in opened.registry else None
        return spec is not None and spec.category == "filesystem" and spec.effect != "read"

    with exit_on_error():
        given = _arguments(arguments, arg or [])
        chosen = settings(board, data)
        if chosen.data is None:
            # nothing is kept for a next command, so nothing is held back for it
            chosen = chosen.replace(max_result_bytes=0)
        result = with_board(chosen, run, whole=False)
    if json:
        say_json(result.to_dict())
    elif result.is_error:
        note(f"pegboard: {result.text}")
        if chosen.data is None and result.error is not None and result.error.__cause__ is not None:
            note(
                "The cause was not stored: call it again with --data DIR, then run 'pegboard "
                "history --data DIR --error ID'."
            )
    else:
        say(result.text)
    if result.error is not None:
        raise typer.Exit(exit_code(result.error))
    raise typer.Exit(Exit.DONE)


def _arguments(text: str, pairs: list[str]) -> "Arguments":
    if text and pairs:
        raise InvalidRequest("give the arguments as JSON or with --arg, not both")
    if text == "-":
        return sys.stdin.read()
    return text if not pairs else dict(_pair(item) for item in pairs)


def _pair(item: str) -> tuple[str, Any]:
    key, separator, value = item.partition("=")
    if not separator or not key.removesuffix(":"):
        raise InvalidRequest(f"--arg {item}: write 'key=text', or 'key:=json'")
    if not key.endswith(":"):
        return key, value  # the tool's schema says what the text is read as
    try:
        return key[:-1], json_library.loads(value)
    except ValueError as error:
        raise InvalidRequest(f"--arg {item}: what follows ':=' is not JSON: {error}") from error


def _tell(progress: "Progress") -> None:
    total = f"/{progress.total:g}" if progress.total is not None else ""
    note(f"{progress.tool}: {progress.done:g}{total} {progress.message}")
