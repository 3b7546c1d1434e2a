"""`pegboard credentials`: yours, for sources that take those of their callers."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.tables import count_noun, format_time, note, say, say_json, table
from pegboard.cli.read_secret import read_secret
from pegboard.core.credential import DEFAULT_NAME

credentials = typer.Typer(
    help="Store, choose and remove credentials.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


_MARKS = {"default": "is_default", "shared": "shared"}


class StoredKind(StrEnum):
    """What can be stored; an account is connected by consent in a browser."""

    BEARER = "bearer"
    API_KEY = "api_key"
    BASIC = "basic"
    CLIENT = "oauth2_client"


@credentials.command("list")
def list_credentials(
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List your credentials, without their values."""
    with exit_on_error():
        found = with_client(
            settings(board, data, url), lambda client: client.credentials.list(), opens="named"
        )
    if json:
        say_json(found)
        return
    table(("id", "source", "name", "kind", "", "since"), map(_row, found["credentials"]))
    if not found["credentials"]:
        note("you have no credentials; 'pegboard credentials add SOURCE' stores one")


@credentials.command()
def add(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The name of the source.")],
    *,
    kind: Annotated[
        StoredKind, typer.Option("--kind", help="What it is; the source takes some of these.")
    ] = StoredKind.BEARER,
    name: Annotated[
        str, typer.Option("--name", help="Your name for this account of the system.")
    ] = DEFAULT_NAME,
    username: Annotated[
        str, typer.Option("--username", help="Of a password; of a client its id.")
    ] = "",
    shared: Annotated[
        bool,
        typer.Option("--shared", help="For all who may call the source and have none themselves."),
    ] = False,
    default: Annotated[
        bool, typer.Option("--default", help="Use it for your calls, in place of another one.")
    ] = False,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Store a credential for a source.

    Its value is asked on the terminal, or read from the standard input.
    """
    with exit_on_error():
        chosen = settings(board, data, url, keep="write")
        value = read_secret("Value")
        wanted = {
            "source": source,
            "kind": kind.value,
            "name": name,
            "username": username,
            "value": value,
            "shared": shared,
            "is_default": default,
        }
        added = with_client(chosen, lambda client: client.credentials.add(wanted), opens="named")
    if json:
        say_json(added)
    else:
        say(f"stored: {added['id']} ({added['source']}/{added['name']})")


@credentials.command()
def use(
    credential: Annotated[str, typer.Argument(metavar="ID", help="Id of one of your credentials.")],
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Use a credential for your calls of its source, in place of another one."""
    with exit_on_error():
        chosen = with_client(
            settings(board, data, url, keep="write"),
            lambda client: client.credentials.choose(credential),
            opens="named",
        )
    if json:
        say_json(chosen)
    else:
        say(f"default: {chosen['source']}/{chosen['name']}")


@credentials.command()
def remove(
    credential: Annotated[str, typer.Argument(metavar="ID", help="Id of one of your credentials.")],
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Remove a credential: your next call acts without it."""
    with exit_on_error():
        removed = with_client(
            settings(board, data, url, keep="write"),
            lambda client: client.credentials.remove(credential),
            opens="named",
        )
    if json:
        say_json(removed)
    else:
        say(f"removed: {removed['source']}/{removed['name']}")


@credentials.command()
def rotate(
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Encrypt all credentials with the newest master key, so that older ones can be removed.

    Put the new key first in PEGBOARD_SECRET_KEY, then a comma and the old one, on every server.
    """
    with exit_on_error():
        done = with_client(
            settings(board, data, url, keep="write"),
            lambda client: client.credentials.rotate(),
            opens="named",
        )
    if json:
        say_json(done)
    else:
        say(f"{count_noun(done['rotated'], 'credential')} encrypted with the newest master key")


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    marks = [mark for mark, has in _MARKS.items() if item[has]]
    if item["state"] != "ok":
        marks.append(f"{item['state']}: {item['reason']}")
    since = format_time(item["created_at"])
    return item["id"], item["source"], item["name"], item["kind"], ", ".join(marks), since
