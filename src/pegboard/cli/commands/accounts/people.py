"""`pegboard people`: who has an account, links for them, and keeping them out."""

from typing import Annotated, Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import DataOption, JsonOption, UrlOption, settings, with_client
from pegboard.cli.output.tables import format_time, note, say, say_json, table
from pegboard.cli.read_secret import read_secret
from pegboard.core.ports.accounts.identity_store import PersonChange
from pegboard.errors import InvalidRequest

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
        note("there are no accounts; 'pegboard people link' makes the link for the first one")


@people.command()
def link(
    person: Annotated[
        str,
        typer.Argument(
            metavar="PERSON", help="Handle or e-mail address of the person who gets a new password."
        ),
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
    name: Annotated[
        str, typer.Option("--name", help="Your handle or e-mail address [default: it is asked].")
    ] = "",
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Make a person an operator of the server, or take that back.

    This needs your password, as no key may name operators. The command asks for it on the
    terminal, or reads it from the standard input.
    """
    from pegboard.cli.run_async import run_async

    with exit_on_error():
        chosen = settings(url=url)
        if not chosen.url:
            raise InvalidRequest("Name the server with --url or PEGBOARD_URL.")
        login_name = name or typer.prompt("Name", err=True)
        password = read_secret("Password")
        changed = run_async(
            _set_operator(chosen.url, login_name, password, person, is_operator=not remove)
        )
    said = "no operator" if remove else "operator"
    _say_change(changed, said, json=json)


async def _set_operator(
    url: str, name: str, password: str, person: str, *, is_operator: bool
) -> dict[str, Any]:
    from urllib.parse import quote

    from pegboard.cli.client.sign_in import sign_in

    async with sign_in(url, name, password) as session:
        path = f"/people/{quote(person, safe='')}"
        return await session.send("PATCH", path, {"operator": is_operator})


@people.command()
def sessions(*, data: DataOption = None, url: UrlOption = None, json: JsonOption = False) -> None:
    """List the browsers in which you are signed in; needs the key of 'pegboard login'."""
    with exit_on_error():
        found = with_client(
            settings(data=data, url=url),
            lambda client: client.people.list_sessions(),
            opens="stored",
        )
    if json:
        say_json(found)
        return
    table(
        ("session", "browser", "address", "last used", "signed in"),
        map(_session, found["sessions"]),
    )
    if not found["sessions"]:
        note("you are signed in nowhere")


@people.command("sign-out")
def sign_out(
    session: Annotated[
        str, typer.Argument(metavar="[SESSION]", help="Its id, as 'people sessions' shows it.")
    ] = "",
    *,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Sign out of every browser.")
    ] = False,
    data: DataOption = None,
    url: UrlOption = None,
) -> None:
    """Sign out of a browser; needs the key of 'pegboard login'."""
    with exit_on_error():
        if bool(session) == everywhere:
            raise InvalidRequest("Name a session of 'pegboard people sessions', or --everywhere.")
        with_client(
            settings(data=data, url=url, keep="write"),
            lambda client: client.people.end_session(session),
            opens="stored",
        )
    say("signed out of every browser" if everywhere else f"signed out: {session}")


def _change(
    person: str, data: str | None, url: str | None, change: PersonChange, *, said: str, json: bool
) -> None:
    with exit_on_error():
        changed = with_client(
            settings(data=data, url=url, keep="write"),
            lambda client: client.people.change(person, change),
            opens="stored",
        )
    _say_change(changed, said, json=json)


def _say_change(changed: dict[str, Any], said: str, *, json: bool) -> None:
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


def _session(session: dict[str, Any]) -> tuple[str, ...]:
    at, used_at = session["signed_in_at"], session["used_at"]
    client = session["used_from"] if used_at else session["signed_in_from"]
    used = format_time(used_at) if used_at else ""
    return (
        session["id"],
        client["browser"] or "not known",
        client["address"] or "not known",
        used,
        format_time(at),
    )
