"""`pegboard call NAME`: run one tool."""

import re
import sys
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from pegboard.cli.complete_tools import complete_tool
from pegboard.cli.exit_codes import Exit, exit_code, exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    explicit_options,
    settings,
    with_client,
)
from pegboard.cli.output.tables import note, say, say_json
from pegboard.cli.pairs import read_pairs
from pegboard.core.text.suggestions import nearest_names
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import (
    ApprovalRequired,
    CredentialMissing,
    InvalidRequest,
    PegboardError,
    ToolFailed,
)

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient
    from pegboard.core.context import Arguments, Progress
    from pegboard.core.result import ToolResult


CONTEXT = {"ignore_unknown_options": True}
"""Options that are unknown arrive as arguments, so that the message can say what to write."""

_OPTIONS = ("arg", "idempotency-key", "account", "timeout", "board", "data", "url", "json")
_NOT_STORED = (
    "The cause was not stored: call it again with --data DIR, then run "
    "'pegboard history --data DIR --error ID'."
)
_PAIR = re.compile(r"[A-Za-z_][\w.-]*:?=")


def call(
    name: Annotated[
        str, typer.Argument(help="The tool's name or id.", autocompletion=complete_tool)
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="arguments", help="The arguments as a JSON object; `-` reads them from stdin."
        ),
    ] = None,
    *,
    arg: Annotated[
        list[str] | None,
        typer.Option("--arg", "-a", help="`key=text` or `key:=json`; repeatable."),
    ] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(help="Idempotency key: the same key returns the first outcome."),
    ] = None,
    account: Annotated[
        str,
        typer.Option(help="Name of your credential to call with, where you have several."),
    ] = "",
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds for the whole call; 0 for no limit.")
    ] = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Call a tool and print its result."""

    async def run(client: "BoardClient") -> "ToolResult":
        if not is_kept and await _writes_files(client, name, timeout):
            note(
                "without a data directory, files are written to a temporary folder that is deleted "
                "afterwards"
            )
        return await client.call_tool(
            name,
            given,
            key=idempotency_key,
            seconds=timeout,
            on_progress=_tell,
            account=account,
        )

    with exit_on_error():
        given = _arguments(arguments or [], arg or [])
        chosen = settings(board, data, url, keep="write")
        is_kept = bool(chosen.url) or chosen.data is not None
        if not is_kept:
            # nothing is kept for a next command, so nothing is held back for it
            chosen = chosen.replace(max_result_bytes=0)
        result = with_client(chosen, run, opens="named")
    if json:
        say_json(result.to_dict())
    elif result.is_error:
        note(f"pegboard: {result.text}")
        options = explicit_options(board, data, url)
        if isinstance(result.error, CredentialMissing):
            options = f"{f' --name {quote(account)}' if account else ''}{options}"
        for line in _next_commands(result, name, options, is_kept=is_kept):
            note(line)
    else:
        say(result.text)
    if result.error is not None:
        raise typer.Exit(exit_code(result.error))
    raise typer.Exit(Exit.DONE)


def _next_commands(result: "ToolResult", name: str, options: str, *, is_kept: bool) -> list[str]:
    """What an operator can do about a failure; empty where nothing is known."""
    match result.error:
        case CredentialMissing(link=str(link)):
            source, _ = split_wire_name(name)
            can_store = not link and source and is_kept
            return [f"  pegboard credentials add {source}{options}"] if can_store else []
        case ApprovalRequired(approval_id=str(approval)) if approval and is_kept:
            return [f"  pegboard approvals approve {approval}{options}  # or deny"]
        case ToolFailed(error_id=str(error_id)) if error_id and is_kept:
            return [f"  pegboard history --error {error_id}{options}"]
        case PegboardError(__cause__=BaseException()) if not is_kept:
            return [_NOT_STORED]
        case _:
            return []


async def _writes_files(client: "BoardClient", name: str, seconds: float | None) -> bool:
    import asyncio

    with suppress(PegboardError, TimeoutError):  # what is wrong is told by the call
        async with asyncio.timeout(seconds or None):
            spec = await client.show_tool(name)
            return spec["category"] == "filesystem" and spec["effect"] != "read"
    return False


def _arguments(texts: list[str], pairs: list[str]) -> "Arguments":
    text, *more = texts or [""]
    if more or _PAIR.match(text) or (text.startswith("-") and text != "-"):
        raise InvalidRequest(_advice(texts))
    if text and pairs:
        raise InvalidRequest("give the arguments as JSON or with --arg, not both")
    if text == "-":
        return sys.stdin.read()
    return text if not pairs else read_pairs(pairs, option="--arg")


def _advice(texts: list[str]) -> str:
    """What to write instead of `name=Ada` or `--name Ada`."""
    meant: list[str] = []
    takes_value = False
    for text in texts:
        if text.startswith("--"):
            name, equals, value = text[2:].partition("=")
            meant.append(f"{name}={value}" if equals else name)
            takes_value = not equals
        elif takes_value:
            meant[-1] += f"={text}"
            takes_value = False
        else:
            meant.append(text)
    first = texts[0]
    name = first.partition("=")[0].lstrip("-")  # the dashes alone would make short names alike
    option = nearest_names(name, _OPTIONS, most=1) if first[0] == "-" else ()
    if option:
        return f"there is no option {first}; did you mean --{option[0]}?"
    if not all(_PAIR.match(item) for item in meant):
        return (
            f"'{' '.join(texts)}' is not a JSON object: write the arguments as JSON, or as "
            "--arg name=value"
        )
    written = " ".join(f"--arg {quote(item)}" for item in meant)
    return f"arguments of a tool need --arg; did you mean '{written}'?"


def _tell(progress: "Progress") -> None:
    total = f"/{progress.total:g}" if progress.total is not None else ""
    note(f"{progress.tool}: {progress.done:g}{total} {progress.message}")
