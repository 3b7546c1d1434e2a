"""`pegboard skills`: instructions that people add for the models of those who see them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pegboard.cli.commands.accounts.skills.skill_files import read_skill_files, read_skill_name
from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.tables import note, say, say_json, table

PathArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PATH", help="A SKILL.md, the folder of a skill, or a zip archive of it."
    ),
]

skills = typer.Typer(
    help="Add skills, and replace their texts.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@skills.command("list")
def list_skills(
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List the skills that people have added, and that you see."""
    with exit_on_error():
        listed = with_client(
            settings(board, data, url), lambda client: client.resources.list(), opens="named"
        )
    found = [item for item in listed["resources"] if item["kind"] == "skill"]
    if json:
        say_json({"skills": found})
        return
    table(("name", "owner", "shared", "market", "description"), map(_row, found))
    if not found:
        note("there are none; 'pegboard skills add' adds one")


@skills.command()
def add(
    path: PathArgument,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Add a skill, for yourself alone."""
    with exit_on_error():
        files = read_skill_files(path)
        wanted = {"kind": "skill", "name": read_skill_name(files), "config": {"files": files}}
        added = with_client(
            settings(board, data, url, keep="write"),
            lambda client: client.resources.add(wanted),
            opens="named",
        )
    if json:
        say_json(added)
        return
    say(f"added: {added['name']}")


@skills.command()
def replace(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The name of the skill, as ada--refunds, or its id."),
    ],
    path: PathArgument,
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Replace the texts of a skill of your own; an approved one is reviewed again."""
    with exit_on_error():
        changes = {"config": {"files": read_skill_files(path)}}
        changed = with_client(
            settings(board, data, url, keep="write"),
            lambda client: client.resources.change(name, changes),
            opens="named",
        )
    if json:
        say_json(changed)
        return
    say(f"replaced: {changed['name']}")


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    return (
        item["name"],
        item["owner"],
        item["organisation"] or item["visibility"],
        "" if item["publish_status"] == "none" else item["publish_status"],
        item["description"],
    )
