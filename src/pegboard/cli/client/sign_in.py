"""Signing in to a server with a password, for what a key may not do."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from pegboard.errors import SignInRefused, Unavailable

if TYPE_CHECKING:
    import httpx2


class SignedIn:
    """The session of a person, for a few requests.

    Args:
        client: Sends the requests, with the cookie and the CSRF header of the session.
        handle: The handle of the person.
    """

    def __init__(self, client: "httpx2.AsyncClient", handle: str) -> None:
        self._client = client
        self.handle = handle

    async def send(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer.

        Raises:
            PegboardError: The server refuses it.
            Unavailable: The server cannot be reached.
        """
        return await _send(self._client, method, path, body)


@asynccontextmanager
async def sign_in(url: str, name: str, password: str) -> AsyncGenerator[SignedIn]:
    """Sign in to a server, and sign out at the end.

    Args:
        url: The address of the server.
        name: The handle or e-mail address of the person.
        password: The password of the person.

    Raises:
        SignInRefused: The name or the password is wrong.
        Unavailable: The server cannot be reached.
    """
    import httpx2

    from pegboard.cli.client.remote import open_client

    async with open_client(url, None) as client:
        base = client.base_url  # changes name where they come from, as those of a browser do
        client.headers["Origin"] = f"{base.scheme}://{base.netloc.decode()}"
        signed = await _send(client, "POST", "/session", {"name": name, "password": password})
        client.headers["X-Pegboard-CSRF"] = signed["csrf"]
        try:
            yield SignedIn(client, signed["handle"])
        finally:
            with suppress(httpx2.HTTPError):  # a session that is left ends by itself
                await client.delete("/session")


async def _send(
    client: "httpx2.AsyncClient", method: str, path: str, body: dict[str, Any]
) -> dict[str, Any]:
    import httpx2

    from pegboard.cli.client.call_results import read_object
    from pegboard.cli.client.problems import to_error

    address = str(client.base_url)
    try:
        response = await client.request(method, path, json=body)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise Unavailable(f"The server at {address} cannot be reached: {error}") from error
    answer = read_object(response)
    if answer.get("code") == SignInRefused.code:
        raise SignInRefused(str(answer["detail"]))
    if not response.is_success:
        raise to_error(response.status_code, answer, url=address)
    return answer
