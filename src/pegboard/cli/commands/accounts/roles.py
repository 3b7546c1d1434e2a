"""`pegboard roles`: what the members of an organisation may call."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import DataOption, JsonOption, UrlOption, settings, with_client
from pegboard.cli.output.tables import note, say, say_json, table
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.core.ports.accounts.role_store import Level

OrganisationArgument = Annotated[
    str, typer.Argument(metavar="ORGANISATION", help="The handle of an organisation.")
]
RoleArgument = Annotated[str, typer.Argument(metavar="ROLE", help="The name of the role.")]

roles = typer.Typer(
    help="Define the roles of an organisation, and assign them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@roles.command("list")
def list_roles(
    organisation: OrganisationArgument,
    *,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List the roles that an organisation has defined, beside those that each one has."""
    with exit_on_error():
        found = with_client(
            settings(data=data, url=url),
            lambda client: client.people.roles.list(organisation),
            opens="stored",
        )
    if json:
        say_json(found)
        return
    table(("role", "title", "levels"), map(_row, found["roles"]))
    if not found["roles"]:
        note("it has the roles that each organisation has: administrator, approver, editor, member")


@roles.command("set")
def set_role(
    organisation: OrganisationArgument,
    role: RoleArgument,
    *,
    level: Annotated[
        list[str],
        typer.Option(
            "--level",
            metavar="SOURCE=LEVEL",
            help="What it may do with a source, or with a glob over names of tools: read, write "
            "or admin; may be given several times.",
        ),
    ],
    title: Annotated[str, typer.Option(help="For display.")] = "",
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Define a role, or define it anew; its members have the new rights at once."""
    with exit_on_error():
        levels = _read_levels(level)
        done = with_client(
            settings(data=data, url=url, keep="write"),
            lambda client: client.people.roles.put(organisation, role, levels, title=title),
            opens="stored",
        )
    if json:
        say_json(done)
    else:
        say(f"{role}: {_format_levels(done)}")


@roles.command()
def delete(
    organisation: OrganisationArgument,
    role: RoleArgument,
    *,
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Remove a role; its members lose what it gave them at once."""
    with exit_on_error():
        with_client(
            settings(data=data, url=url, keep="write"),
            lambda client: client.people.roles.remove(organisation, role),
            opens="stored",
        )
    say(f"deleted: {role}")


@roles.command()
def assign(
    organisation: OrganisationArgument,
    person: Annotated[
        str, typer.Argument(metavar="PERSON", help="A handle, or an e-mail address.")
    ],
    roles: Annotated[
        list[str], typer.Argument(metavar="ROLE", help="All roles that the member then has.")
    ],
    *,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Give a member these roles, in place of those it has; a person who waits is let in."""
    with exit_on_error():
        done = with_client(
            settings(data=data, url=url, keep="write"),
            lambda client: client.people.roles.assign(organisation, person, roles),
            opens="stored",
        )
    if json:
        say_json(done)
    else:
        say(f"{done['handle']}: {', '.join(done['roles'])}")


def _read_levels(pairs: Sequence[str]) -> "dict[str, Level]":
    found: dict[str, Level] = {}
    for pair in pairs:
        pattern, _, level = pair.rpartition("=")
        if not pattern:
            raise InvalidRequest(f"--level {pair[:80]}: write SOURCE=read, =write or =admin")
        found[pattern] = cast("Level", level)  # the service says which there are
    return found


def _row(role: dict[str, Any]) -> tuple[str, ...]:
    return (role["name"], role["title"], _format_levels(role))


def _format_levels(role: dict[str, Any]) -> str:
    return ", ".join(f"{pattern}={level}" for pattern, level in role["levels"].items())
