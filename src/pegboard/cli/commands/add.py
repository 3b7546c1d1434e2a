"""`pegboard add KIND ...`: a source more in the board file."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from pegboard.cli.add_source import NewSource, add_source
from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import refuse_url
from pegboard.errors import ConfigError, InvalidRequest

_SECRETS = {"bearer": ("token",), "api_key": ("key",), "basic": ("username", "password")}
"""The kinds of credential, and what of them stands in variables."""

add = typer.Typer(no_args_is_help=True, help="Add a source to the board file.")


def _command(said: Callable[..., NewSource]) -> Callable[..., NewSource]:
    """A command of what says a source; all of them take the options of `shared` as well."""

    def shared(
        *,
        name: Annotated[
            str, typer.Option(help="Prefix of its tools' names; by default generated.")
        ] = "",
        board: Annotated[
            Path | None,
            typer.Option("--board", "-b", help="The board file; created if it is missing."),
        ] = None,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
        ] = False,
        check: Annotated[
            bool,
            typer.Option("--check/--no-check", help="Whether to open it and show its tools."),
        ] = True,
        **given: Any,
    ) -> None:
        with exit_on_error():
            refuse_url()
            add_source(said(**given), board, name=name, dry_run=dry_run, check=check)

    *options, _ = inspect.signature(shared).parameters.values()
    own = inspect.signature(said).parameters.values()
    vars(shared)["__signature__"] = inspect.Signature([*own, *options])
    ours = {"ignore_unknown_options": True} if said.__name__ == "mcp" else None
    add.command(said.__name__, help=said.__doc__, context_settings=ours)(shared)
    return said


@_command
def functions(
    objects: Annotated[
        list[str], typer.Argument(help="Python files, or modules that can be imported.")
    ],
) -> NewSource:
    """Put Python functions with `@tool` on the board."""
    files = [Path(item) for item in objects if item.endswith(".py")]
    modules = [item for item in objects if not item.endswith(".py")]
    config = {name: given for name, given in (("files", files), ("modules", modules)) if given}
    words = Path(objects[0]).stem if files else objects[0].rpartition(".")[2]
    return NewSource(kind="functions", config=config, words=words)


@_command
def openapi(
    document: Annotated[str, typer.Argument(help="Address or file of the OpenAPI document.")],
    *,
    base_url: Annotated[
        str, typer.Option(help="Base URL of the API, if the document has a wrong one.")
    ] = "",
    auth: Annotated[
        str,
        typer.Option(
            help="`bearer:VARIABLE`, `api_key:VARIABLE` or `basic:VARIABLE:VARIABLE` (user "
            "name and password), naming the variables that hold the secrets."
        ),
    ] = "",
    tag: Annotated[
        list[str] | None, typer.Option(help="Only operations with this tag; repeatable.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Only operations of this method; repeatable.")
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(help="Only operations of this path, as '/orders/*'; repeatable."),
    ] = None,
    operation: Annotated[
        list[str] | None,
        typer.Option(help="Only operations of this id, as 'list*'; repeatable."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="No operation of this id, as 'delete*'; repeatable."),
    ] = None,
) -> NewSource:
    """Put a REST API on the board, by its OpenAPI document: all of it, or what you choose."""
    config: dict[str, Any] = {"document": document if "://" in document else Path(document)}
    if base_url:
        config["base_url"] = base_url
    if auth:
        config["auth"] = _auth(auth, "bearer", "api_key", "basic")
    wanted = {"tags": tag, "methods": method, "paths": path, "operations": operation}
    if included := {key: values for key, values in wanted.items() if values}:
        config["include"] = [included]
    if exclude:
        config["exclude"] = [{"operations": exclude}]
    return NewSource(kind="openapi", config=config, words=_words_of(document))


@_command
def mcp(
    server: Annotated[
        list[str] | None,
        typer.Argument(help="Address of the server, or, after `--`, the command that starts it."),
    ] = None,
    *,
    json: Annotated[
        Path | None,
        typer.Option("--json", help="A file with `mcpServers`, in the format of MCP clients."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(help="Name of a variable passed to the command; repeatable."),
    ] = None,
    auth: Annotated[
        str, typer.Option(help="`bearer:VARIABLE`: the variable that holds the token.")
    ] = "",
) -> NewSource:
    """Put an MCP server on the board: `add mcp URL`, or `add mcp -- COMMAND ARGUMENTS`."""
    words = server or []
    if (json is not None) == bool(words):
        raise InvalidRequest("give an address, '-- COMMAND ARGUMENTS', or --json FILE")
    config: dict[str, Any]
    if json is not None:
        config, wanted = {"mcp_json": json}, ""  # its servers have names
    elif "://" in words[0] and len(words) == 1:
        config, wanted = {"url": words[0]}, _words_of(words[0])
    else:
        config = {"command": words[0], **({"args": words[1:]} if words[1:] else {})}
        wanted = _words_of_command(words)
    if env:
        config["env"] = {item: _secret(item) for item in env}
    if auth:
        config["auth"] = _auth(auth, "bearer")
    return NewSource(kind="mcp", config=config, words=wanted)


@_command
def sql(
    url: Annotated[str, typer.Argument(help="`sqlite:///FILE`, or '${VARIABLE}' that holds it.")],
) -> NewSource:
    """Put a database on the board, read only."""
    if re.match(r"[a-z0-9+.-]+://[^/@\s]*:[^/@\s]+@", url):
        raise InvalidRequest(
            "the address contains a password: put the address into a variable, and write "
            "'${VARIABLE}'"
        )
    return NewSource(kind="sql", config={"url": url}, words="db" if "${" in url else _words_of(url))


@_command
def script(
    paths: Annotated[list[str], typer.Argument(help="Scripts, or globs over them.")],
) -> NewSource:
    """Put scripts on the board."""
    words = Path(paths[0]).stem if len(paths) == 1 else "scripts"
    return NewSource(kind="script", config={"paths": [*map(Path, paths)]}, words=words)


@_command
def langchain(
    objects: Annotated[
        list[str], typer.Argument(help="`package.module:object`, a tool or a list.")
    ],
) -> NewSource:
    """Put LangChain tools on the board."""
    words = objects[0].rpartition(":")[2]
    return NewSource(kind="langchain", config={"objects": objects}, words=words)


def _auth(given: str, *kinds: str) -> dict[str, str]:
    """The `auth` of a configuration, of one of these kinds."""
    kind, *variables = given.split(":")
    fields = _SECRETS[kind] if kind in kinds else ()
    if not fields or len(variables) != len(fields):
        forms = [f"'{':'.join((item, *('VARIABLE' for _ in _SECRETS[item])))}'" for item in kinds]
        raise InvalidRequest(f"--auth is {' or '.join(forms)}")
    secrets = dict(zip(fields, map(_secret, variables), strict=True))
    return {"kind": kind, **secrets}


def _secret(variable: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
        raise ConfigError(f"'{variable}' is not the name of a variable; do not write a secret here")
    return f"${{{variable}}}"


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
    last = Path(plain[0] if plain else words[0]).stem
    last = last.rpartition("@")[0] or last
    return last.removeprefix("mcp-server-").removeprefix("mcp_server_").removeprefix("server-")
