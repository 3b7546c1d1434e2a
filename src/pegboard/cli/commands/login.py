"""`pegboard login`: sign in to a server, and store a key for its address."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import UrlOption, settings
from pegboard.cli.output.tables import note, say
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    import httpx2

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
    import asyncio

    from pegboard.cli.stored_keys import store_key

    with exit_on_error():
        chosen = settings(url=url)
        if not chosen.url:
            raise InvalidRequest("Name the server with --url or PEGBOARD_URL.")
        login_name = name or typer.prompt("Name", err=True)
        password = typer.prompt("Password", hide_input=True, err=True)
        made = asyncio.run(_make_key(chosen.url, login_name, password, days))
        path = store_key(chosen.url, made["key"])
    say(f"signed in to {chosen.url} as {made['handle']}")
    note(f"the key {made['hint']}... stands in {path}; 'pegboard people' and all commands use it")


async def _make_key(url: str, name: str, password: str, days: int) -> dict[str, Any]:
    """Sign in, make a key, and sign out again.

    Raises:
        SignInRefused: The name or the password is wrong.
        Unavailable: The server cannot be reached.
    """
    import platform

    from pegboard.cli.client.remote import open_client

    async with open_client(url, None) as client:
        signed = await _post(client, "/session", {"name": name, "password": password})
        client.headers["X-Pegboard-CSRF"] = signed["csrf"]
        label = f"pegboard login on {platform.node()[:60] or 'this machine'}"
        made = await _post(client, "/keys", {"name": label, "days": days, "scopes": _SCOPES})
        await client.delete("/session")
    return {**made, "handle": signed["handle"]}


async def _post(client: "httpx2.AsyncClient", path: str, body: dict[str, Any]) -> dict[str, Any]:
    import httpx2

    from pegboard.cli.client.call_results import read_object
    from pegboard.cli.client.problems import to_error
    from pegboard.errors import SignInRefused, Unavailable

    address = str(client.base_url)
    try:
        response = await client.post(path, json=body)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Unavailable(f"The server at {address} cannot be reached: {error}") from error
    answer = read_object(response)
    if answer.get("code") == SignInRefused.code:
        raise SignInRefused(str(answer["detail"]))
    if not response.is_success:
        raise to_error(response.status_code, answer, url=address)
    return answer
