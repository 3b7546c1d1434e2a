"""`pegboard login`: sign in to a server, and store a key for its address."""

from typing import Annotated, Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import UrlOption, settings
from pegboard.cli.output.tables import note, say
from pegboard.cli.read_secret import read_secret
from pegboard.errors import InvalidRequest

_SCOPES = ["*", "approvals:decide"]
"""All that the person may: without its name no key decides approvals."""


def login(
    *,
    name: Annotated[
        str, typer.Option("--name", help="Your handle or e-mail address [default: it is asked].")
    ] = "",
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="Until the key ends.")] = 90,
    url: UrlOption = None,
) -> None:
    """Sign in to a server, and store a key for its address.

    The commands that ask this server use the key, unless PEGBOARD_TOKEN is set. The password is
    asked on the terminal, or read from the standard input.
    """
    from pegboard.cli.run_async import run_async
    from pegboard.cli.stored_keys import store_key

    with exit_on_error():
        chosen = settings(url=url)
        if not chosen.url:
            raise InvalidRequest("Name the server with --url or PEGBOARD_URL.")
        login_name = name or typer.prompt("Name", err=True)
        password = read_secret("Password")
        made = run_async(_make_key(chosen.url, login_name, password, days))
        path = store_key(chosen.url, made["key"])
    say(f"signed in to {chosen.url} as {made['handle']}")
    note(f"the key {made['hint']}... is stored in {path}; commands with this --url use it")


async def _make_key(url: str, name: str, password: str, days: int) -> dict[str, Any]:
    """Sign in, make a key, and sign out again; errors as `sign_in`."""
    import platform

    from pegboard.cli.client.sign_in import sign_in

    label = f"pegboard login on {platform.node()[:60] or 'this machine'}"
    async with sign_in(url, name, password) as session:
        made = await session.send("POST", "/keys", {"name": label, "days": days, "scopes": _SCOPES})
    return {**made, "handle": session.handle}
