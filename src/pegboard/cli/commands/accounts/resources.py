"""`pegboard resources`: connectors, agents and models that people add, share and publish."""

from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from pegboard.cli.client.port import ResourceAction, ResourceScope
from pegboard.cli.client.resources import find_listed
from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.tables import count_noun, note, say, say_json, table
from pegboard.errors import InvalidRequest

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Its name, as ada--github, or its id.")
]

_NO_SOURCES = ("agent", "model")
_NONE: dict[ResourceScope, str] = {
    "visible": "there are none; 'pegboard resources add' adds a connector, an agent or a model",
    "waiting": "nothing waits for your review",
    "market": "nothing is published in the market",
}

resources = typer.Typer(
    help="Add, share and publish connectors, agents and models.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@resources.command("list")
def list_resources(
    *,
    waiting: Annotated[bool, typer.Option("--waiting", help="Those that you may review.")] = False,
    market: Annotated[
        bool, typer.Option("--market", help="What organisations have published.")
    ] = False,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List the connectors, agents, skills and models that you see."""
    scope: ResourceScope = "market" if market else "waiting" if waiting else "visible"
    with exit_on_error():
        chosen = settings(board, data, url)
        found = with_client(chosen, lambda client: client.resources.list(scope), opens="named")
    if json:
        say_json(found)
        return
    table(("name", "kind", "owner", "shared", "market", "status"), map(_row, found["resources"]))
    if not found["resources"]:
        note(_NONE[scope])


@resources.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, without your handle.")],
    config: Annotated[
        Path, typer.Option("--config", help="A YAML or JSON file: `config:` as in a board file.")
    ],
    *,
    kind: Annotated[
        str,
        typer.Option("--kind", help="'agent', 'model', or a kind of source: openapi, sql or mcp."),
    ] = "openapi",
    title: Annotated[str, typer.Option("--title", help="For display.")] = "",
    description: Annotated[str, typer.Option("--description", help="What it is for.")] = "",
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Add a connector, an agent or a language model, for yourself alone."""
    with exit_on_error():
        wanted = {
            "name": name,
            "kind": kind if kind in _NO_SOURCES else "connector",
            "source_kind": "" if kind in _NO_SOURCES else kind,
            "title": title,
            "description": description,
            "config": _read_config(config),
        }
        added = with_client(
            settings(board, data, url, keep="write"),
            lambda client: client.resources.add(wanted),
            opens="named",
        )
    if json:
        say_json(added)
        return
    say(f"added: {added['name']}")
    if added["source"] is not None:
        _say_report(added["source"])


@resources.command()
def show(
    name: NameArgument,
    *,
    only_config: Annotated[
        bool,
        typer.Option("--config", help="Its configuration alone, as a file for 'change'."),
    ] = False,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Show one that you see, with its configuration where you may read it."""
    from pegboard.tools.yaml_positions import dump_yaml

    with exit_on_error():
        chosen = settings(board, data, url)
        listed = with_client(chosen, lambda client: client.resources.list(), opens="named")
        found = find_listed(listed, name)
        if only_config and found["config"] is None:
            raise InvalidRequest(f"Only those who may change '{name}' read its configuration.")
    shown = found["config"] if only_config else found
    if json:
        say_json(shown)
    else:
        filled = {key: value for key, value in shown.items() if value not in ("", None)}
        say(dump_yaml(filled, sort_keys=False, allow_unicode=True).rstrip())


@resources.command()
def change(
    name: NameArgument,
    *,
    config: Annotated[
        Path | None,
        typer.Option("--config", help="A YAML or JSON file that replaces its configuration."),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="For display.")] = None,
    description: Annotated[
        str | None, typer.Option("--description", help="What it is for.")
    ] = None,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Change the configuration, title or description of one of your own."""
    with exit_on_error():
        given = {
            "config": None if config is None else _read_config(config),
            "title": title,
            "description": description,
        }
        changes = {key: value for key, value in given.items() if value is not None}
        if not changes:
            raise InvalidRequest("Give --config, --title or --description.")
        changed = with_client(
            settings(board, data, url, keep="write"),
            lambda client: client.resources.change(name, changes),
            opens="named",
        )
    if json:
        say_json(changed)
        return
    say(f"changed: {changed['name']}")
    if changed["source"] is not None:
        _say_report(changed["source"])


@resources.command()
def share(
    name: NameArgument,
    *,
    organisation: Annotated[
        str, typer.Option("--organisation", help="Its members see and use it.")
    ] = "",
    everybody: Annotated[
        bool, typer.Option("--global", help="Everybody does; for operators.")
    ] = False,
    private: Annotated[bool, typer.Option("--private", help="Nobody else does.")] = False,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Share one of your own, or stop sharing it."""
    with exit_on_error():
        if bool(organisation) + everybody + private != 1:
            raise InvalidRequest("Give one of --organisation, --global and --private.")
        visibility = "global" if everybody else "private" if private else "organisation"
        changes = {"visibility": visibility, "organisation": organisation}
        changed = with_client(
            settings(board, data, url, keep="write"),
            lambda client: client.resources.change(name, changes),
            opens="named",
        )
    if json:
        say_json(changed)
        return
    said = f"shared with {organisation}" if organisation else visibility
    say(f"{said}: {changed['name']}")


@resources.command()
def remove(
    name: NameArgument,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Delete one of your own, for all who see it."""
    with exit_on_error():
        with_client(
            settings(board, data, url, keep="write"),
            lambda client: client.resources.remove(name),
            opens="named",
        )
    say(f"removed: {name}")


@resources.command("test")
def probe(
    name: NameArgument,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Open one of your connectors apart from the board, and list its tools."""
    with exit_on_error():
        report = _act(name, "test", {}, board, data, url)
    if json:
        say_json(report)
    else:
        _say_report(report)


@resources.command()
def publish(
    name: NameArgument,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Propose one of your own for the market; another administrator reviews it."""
    with exit_on_error():
        say(f"{_act(name, 'publish', {}, board, data, url)['publish_status']}: {name}")


@resources.command()
def withdraw(
    name: NameArgument,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Take one of your own out of the market, or back from its review."""
    with exit_on_error():
        _act(name, "withdraw", {}, board, data, url)
        say(f"withdrawn: {name}")


@resources.command()
def review(
    name: NameArgument,
    decision: Annotated[
        str, typer.Argument(metavar="approve|reject", help="The decision that holds from now on.")
    ],
    *,
    text: Annotated[str, typer.Option("--note", help="For its owner.")] = "",
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Approve or reject what is proposed for the market or shared, as another administrator."""
    with exit_on_error():
        body = {"decision": _check_decision(decision), "note": text}
        say(f"{_describe_review(_act(name, 'review', body, board, data, url))}: {name}")


@resources.command()
def install(
    name: NameArgument,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Install something of the market for yourself."""
    with exit_on_error():
        _act(name, "install", {}, board, data, url)
    say(f"installed: {name}")


@resources.command()
def uninstall(
    name: NameArgument,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Remove what you have installed from the market."""
    with exit_on_error():
        _act(name, "uninstall", {}, board, data, url)
    say(f"uninstalled: {name}")


def _act(
    name: str,
    action: ResourceAction,
    body: dict[str, Any],
    board: Path | None,
    data: str | None,
    url: str | None,
) -> dict[str, Any]:
    return with_client(
        settings(board, data, url, keep="write"),
        lambda client: client.resources.act(name, action, body),
        opens="named",
    )


def _describe_review(item: dict[str, Any]) -> str:
    """The state of a resource after its review."""
    if item["vouched_by"]:
        return f"approved for {item['organisation']}"
    is_shared = item["visibility"] != "private"
    return str(item["publish_status"]) if is_shared else "no longer shared"


def _check_decision(decision: str) -> Literal["approve", "reject"]:
    if decision in {"approve", "reject"}:
        return "approve" if decision == "approve" else "reject"
    raise InvalidRequest(f"'{decision[:40]}' is no decision: write approve or reject.")


def _read_config(path: Path) -> dict[str, Any]:
    """The configuration of a file.

    Raises:
        InvalidRequest: It cannot be read, or is no mapping.
    """
    from pegboard.tools.yaml_positions import read_yaml

    try:
        found = read_yaml(path.read_text(encoding="utf-8"), path.name).value
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{path}: cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise InvalidRequest(f"{path}: write a mapping, as `config:` of a board file.")
    return cast("dict[str, Any]", found)


def _say_report(report: dict[str, Any]) -> None:
    reason = f": {report['reason']}" if report["reason"] else ""
    say(f"{report['status']}, {count_noun(len(report['tools']), 'tool')}{reason}")
    for tool in report["tools"]:
        say(f"  {tool}")


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    source: dict[str, Any] = item["source"] or {}
    return (
        item["name"],
        item["source_kind"] or item["kind"],
        item["owner"],
        item["organisation"] or item["visibility"],
        "" if item["publish_status"] == "none" else item["publish_status"],
        source.get("status", ""),
    )
