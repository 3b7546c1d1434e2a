"""`pegboard add KIND ...`: a source more in the board file."""

import re
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
import yaml

from pegboard.cli.board_editing import (
    changes,
    free_name,
    loaded_with,
    with_source,
    write_board,
)
from pegboard.cli.exits import Exit, exits
from pegboard.cli.options import DEFAULT_BOARD, settings, with_board
from pegboard.cli.output import counted, first_line, note, say, table
from pegboard.core.tool import ToolSpec
from pegboard.errors import ConfigError, InvalidRequest
from pegboard.runtime import Pegboard
from pegboard.runtime.board_file import LoadedBoard, load_board
from pegboard.runtime.settings import environ

Board = Annotated[
    Path | None,
    typer.Option("--board", "-b", help="The board file; written if there is none yet."),
]
Name = Annotated[
    str, typer.Option("--name", help="The first part of its tools' names; by default made up.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
]
Check = Annotated[
    bool, typer.Option("--check/--no-check", help="Whether it is opened and its tools are shown.")
]
Auth = Annotated[
    str,
    typer.Option(
        help="`bearer:VARIABLE` or `api_key:VARIABLE`: the variable that holds the secret."
    ),
]
add = typer.Typer(no_args_is_help=True, help="Put a source on the board.")


@add.command()
def openapi(
    document: Annotated[str, typer.Argument(help="Address or file of the OpenAPI document.")],
    *,
    base_url: Annotated[str, typer.Option(help="Where the API is, if the document is wrong.")] = "",
    auth: Auth = "",
    name: Name = "",
    board: Board = None,
    dry_run: DryRun = False,
    check: Check = True,
) -> None:
    """Put a REST API on the board, by its OpenAPI document."""
    with exits():
        config: dict[str, Any] = {"document": document}
        if base_url:
            config["base_url"] = base_url
        if auth:
            config["auth"] = _auth(auth)
        _add("openapi", config, name or _words_of(document), board, dry_run=dry_run, check=check)


@add.command(context_settings={"ignore_unknown_options": True})
def mcp(
    server: Annotated[
        list[str] | None,
        typer.Argument(help="Address of the server, or, after `--`, the command that starts it."),
    ] = None,
    *,
    json: Annotated[
        Path | None, typer.Option("--json", help="A file with `mcpServers`, as MCP clients have.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(help="Name of a variable that the command is given; repeatable."),
    ] = None,
    auth: Auth = "",
    name: Name = "",
    board: Board = None,
    dry_run: DryRun = False,
    check: Check = True,
) -> None:
    """Put an MCP server on the board: `add mcp URL`, or `add mcp -- COMMAND ARGUMENTS`."""
    with exits():
        words = server or []
        if (json is not None) == bool(words):
            raise InvalidRequest("give an address, '-- COMMAND ARGUMENTS', or --json FILE")
        if json is not None:
            config: dict[str, Any] = {"mcp_json": str(json)}
            wanted = json.stem
        elif "://" in words[0] and len(words) == 1:
            config, wanted = {"url": words[0]}, _words_of(words[0])
        else:
            config = {"command": words[0], **({"args": words[1:]} if words[1:] else {})}
            wanted = _words_of_command(words)
        if env:
            config["env"] = {item: f"${{{_variable(item)}}}" for item in env}
        if auth:
            config["auth"] = _auth(auth)
        _add("mcp", config, name or wanted, board, dry_run=dry_run, check=check)


@add.command()
def sql(
    url: Annotated[str, typer.Argument(help="`sqlite:///FILE`, or '${VARIABLE}' that holds it.")],
    *,
    name: Name = "",
    board: Board = None,
    dry_run: DryRun = False,
    check: Check = True,
) -> None:
    """Put a database on the board, read only."""
    with exits():
        if re.match(r"[a-z0-9+.-]+://[^/@\s]*:[^/@\s]+@", url):
            raise InvalidRequest(
                "the address holds a password: put it into a variable, and write '${VARIABLE}'"
            )
        wanted = re.sub(r"\$\{(\w+).*\}", r"\1", url)
        wanted = "db" if wanted != url else _words_of(url)
        _add("sql", {"url": url}, name or wanted, board, dry_run=dry_run, check=check)


@add.command()
def script(
    paths: Annotated[list[str], typer.Argument(help="Scripts, or globs over them.")],
    *,
    name: Name = "",
    board: Board = None,
    dry_run: DryRun = False,
    check: Check = True,
) -> None:
    """Put scripts on the board."""
    with exits():
        wanted = Path(paths[0]).stem if len(paths) == 1 else "scripts"
        _add("script", {"paths": paths}, name or wanted, board, dry_run=dry_run, check=check)


@add.command()
def langchain(
    objects: Annotated[
        list[str], typer.Argument(help="`package.module:object`, a tool or a list.")
    ],
    *,
    name: Name = "",
    board: Board = None,
    dry_run: DryRun = False,
    check: Check = True,
) -> None:
    """Put LangChain tools on the board."""
    with exits():
        wanted = objects[0].rpartition(":")[2]
        _add("langchain", {"objects": objects}, name or wanted, board, dry_run=dry_run, check=check)


def _add(
    kind: str,
    config: dict[str, Any],
    wanted: str,
    board: Path | None,
    *,
    dry_run: bool,
    check: bool,
) -> None:
    path = settings(board).board or DEFAULT_BOARD
    before, loaded = "", None
    if path.is_file():
        before, loaded = path.read_text(encoding="utf-8"), load_board(path, environ())
    entry = {"kind": kind, "name": free_name(wanted, kind, loaded), "config": config}
    after = with_source(before, entry, file=path.name)
    now = loaded_with(after, path)
    say(changes(before, after, path))
    if dry_run:
        return
    write_board(path, after)
    if check:
        _show(path, entry, now)


def _show(path: Path, entry: dict[str, Any], loaded: LoadedBoard) -> None:
    """Open the new source alone, and show what it offers."""
    network = loaded.board.network.model_dump(mode="json")
    text = yaml.safe_dump({"sources": [entry], "network": network})
    with tempfile.NamedTemporaryFile(
        "w", suffix=".yaml", prefix=".pegboard-add-", dir=path.resolve().parent, encoding="utf-8"
    ) as file:  # beside the board, where its relative paths begin
        file.write(text)
        file.flush()

        async def look(opened: Pegboard) -> tuple[str, list[tuple[str, str, str]]]:
            state = next(item for item in opened.sources if item.name == entry["name"])
            specs = [tool.spec for tool in state.tools]
            rows = [(item.name, item.effect.value, _told(item)) for item in specs]
            if state.status != "ok":
                return state.reason, rows
            usable = not specs or any(not item.unavailable for item in specs)
            return ("" if usable else specs[0].unavailable), rows

        reason, rows = with_board(settings(Path(file.name)), look)
    if rows:
        sys.stdout.write("\n")
        table(("name", "effect", "description"), rows)
    note(counted(len(rows), "tool"))
    if reason:
        note(f"pegboard: '{entry['name']}' is on the board, and cannot be used yet: {reason}")
        raise typer.Exit(Exit.UNAVAILABLE)


def _told(spec: ToolSpec) -> str:
    if spec.unavailable:
        return f"(unavailable: {spec.unavailable})"
    return first_line(spec.description)


def _auth(given: str) -> dict[str, Any]:
    kind, _, variable = given.partition(":")
    secret = f"${{{_variable(variable)}}}"
    match kind:
        case "bearer":
            return {"kind": "bearer", "token": secret}
        case "api_key":
            return {"kind": "api_key", "key": secret}
        case _:
            raise InvalidRequest("--auth is 'bearer:VARIABLE' or 'api_key:VARIABLE'")


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ConfigError(f"'{name}' is not the name of a variable; a secret is not written here")
    return name


def _words_of(address: str) -> str:
    """What an address is about: its host's own part, or its file."""
    host = urlsplit(address).hostname
    if host is None:
        return Path(address).stem
    parts = [part for part in host.split(".") if part not in {"www", "api", "mcp"}]
    return host.replace(".", "-") if host[-1:].isdigit() else parts[0]


def _words_of_command(words: list[str]) -> str:
    """What a command starts: its package rather than what runs it."""
    runners = {"npx", "uvx", "node", "python", "python3", "docker", "run", "bunx", "pipx"}
    plain = [item for item in words if not item.startswith("-") and item not in runners]
    last = Path(plain[0] if plain else words[0]).stem.rpartition("@")[0] or (
        Path(plain[0] if plain else words[0]).stem
    )
    return last.removeprefix("mcp-server-").removeprefix("mcp_server_").removeprefix("server-")
