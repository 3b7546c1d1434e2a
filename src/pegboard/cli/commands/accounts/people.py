"""`pegboard people`: who has an account, links for them, and keeping them out."""

from typing import Annotated, Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import DataOption, JsonOption, UrlOption, settings, with_client
from pegboard.cli.output.tables import format_time, note, say, say_json, table
from pegboard.core.ports.accounts.identity_store import PersonChange

PersonArgument = Annotated[
    str, typer.Argument(metavar="PERSON", help="A handle, or an e-mail address.")
]

people = typer.Typer(
    help="List people, invite them, and keep them out.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@people.command("list")
def list_people(
    *, data: DataOption = None, url: UrlOption = None, json: JsonOption = False
) -> None:
    """List the people with an account that you may see."""
    with exit_on_error():
        found = with_client(
            settings(data=data, url=url), lambda client: client.people.list(), opens="stored"
        )
    if json:
        say_json(found)
        return
    table(("handle", "name", "e-mail", "", "since"), map(_row, found["people"]))
    if not found["people"]:
        note("nobody has an account; 'pegboard people link' makes the link for the first one")


@people.command()
def link(
    person: Annotated[
        str,
        typer.Argument(metavar="[PERSON]", help="Who gets a new password, as handle or e-mail."),
    ] = "",
    *,
    organisation: Annotated[
        str, typer.Option("--organisation", help="Invite a new person to this organisation.")
    ] = "",
    role: Annotated[
        list[str] | None,
        typer.Option("--role", help="A role there; may be given several times [default: member]."),
    ] = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Make a one-time link: for the first account, a new password, or an invitation."""
    with exit_on_error():
        chosen = settings(data=data, url=url, keep="write")
        made = with_client(
            chosen,
            lambda client: client.people.make_link(person, organisation, role or ()),
            opens="stored",
        )
    if json:
        say_json(made)
        return
    address = chosen.public_url or f"http://{chosen.host}:{chosen.port}"  # of `serve`, later
    say(made["url"] or f"{address.rstrip('/')}{made['path']}")
    note(f"it can be used once, until {format_time(made['expires_at'])}")


@people.command()
def disable(
    person: PersonArgument,
    *,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Keep a person out: sessions, keys and runs end at once."""
    _change(person, data, url, PersonChange(disabled=True), said="disabled", json=json)


@people.command()
def enable(
    person: PersonArgument,
    *,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Let a person in again."""
    _change(person, data, url, PersonChange(disabled=False), said="enabled", json=json)


@people.command()
def operator(
    person: PersonArgument,
    *,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take it back; the last operator stays one.")
    ] = False,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Make a person an operator of the server, or take that back."""
    said = "no operator" if remove else "operator"
    _change(person, data, url, PersonChange(operator=not remove), said=said, json=json)


def _change(
    person: str, data: str | None, url: str | None, change: PersonChange, *, said: str, json: bool
) -> None:
    with exit_on_error():
        changed = with_client(
            settings(data=data, url=url, keep="write"),
            lambda client: client.people.change(person, change),
            opens="stored",
        )
    if json:
        say_json(changed)
    else:
        say(f"{said}: {changed['handle']}")


def _list_marks(person: dict[str, Any]) -> list[str]:
    return [name for name in ("operator", "service", "disabled") if person[name]]


def _row(person: dict[str, Any]) -> tuple[str, ...]:
    marks = _list_marks(person)
    since = format_time(person["created_at"])
    return person["handle"], person["name"], person["email"], ", ".join(marks), since
