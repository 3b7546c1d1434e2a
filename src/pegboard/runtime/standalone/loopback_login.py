"""Logins by OAuth for one person: the browser, and a port of this machine for the answer."""

import asyncio
import socket
import webbrowser
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pegboard.core.ports.source_services.oauth_login import ConsentAnswer, OAuthLogin
from pegboard.errors import ToolFailed, ToolTimeout

_PAGE = (
    "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {size}\r\n"
    "Cache-Control: no-store\r\nConnection: close\r\n\r\n{text}"
)
_MAX_HEAD = 16 * 1024
_PATH = "/callback"


class LoopbackLogins:
    """The logins of the person who runs this program, kept in memory.

    Args:
        show: Shows a page to the person; None opens the browser.
        timeout: Seconds that the person may take.
    """

    def __init__(
        self, *, show: Callable[[str], object] | None = None, timeout: float = 300.0
    ) -> None:
        self._show = show or webbrowser.open
        self._timeout = timeout
        self._logins: dict[str, LoopbackLogin] = {}

    def find(self, source: str, owner: str) -> OAuthLogin:
        """The login at a source; this program has one person, whoever calls."""
        del owner
        if source not in self._logins:
            self._logins[source] = LoopbackLogin(self._show, timeout=self._timeout)
        return self._logins[source]


class LoopbackLogin:
    """One login: its port is bound when the address is needed, and open while a person is asked.

    Args:
        show: Shows a page to the person.
        timeout: Seconds that the person may take.
    """

    client_url = ""

    def __init__(self, show: Callable[[str], object], *, timeout: float) -> None:
        self._show = show
        self._timeout = timeout
        self._kept: Mapping[str, Any] = {}
        self._port = 0
        self._turn = asyncio.Lock()

    @property
    def redirect_uri(self) -> str:
        """An address of this machine, the same for as long as the program runs."""
        return f"http://127.0.0.1:{self._find_port()}{_PATH}"

    async def ask(self, url: str) -> ConsentAnswer:
        """Open the page of consent, and wait for the browser to come back.

        Raises:
            ToolTimeout: The person has not finished in time.
            ToolFailed: The person, or the authorization server, has refused.
        """
        async with self._turn:
            found: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

            async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await _answer(reader, writer, found)

            server = await asyncio.start_server(
                answer, sock=_bind(self._find_port()), limit=_MAX_HEAD
            )
            async with server:
                await asyncio.to_thread(self._show, url)
                try:
                    async with asyncio.timeout(self._timeout):
                        said = await found
                except TimeoutError:
                    raise ToolTimeout(
                        f"Nobody has logged in within {self._timeout:g} s: {url}"
                    ) from None
        if "code" not in said:
            raise ToolFailed(
                f"The login was refused: {said.get('error', 'no code was sent')[:100]}."
            )
        return ConsentAnswer(code=said["code"], state=said.get("state"), issuer=said.get("iss"))

    def _find_port(self) -> int:
        if not self._port:
            with _bind(0) as bound:
                self._port = bound.getsockname()[1]
        return self._port

    async def load(self) -> Mapping[str, Any]:
        """What was kept."""
        return self._kept

    async def save(self, kept: Mapping[str, Any]) -> None:
        """Keep it for as long as the program runs."""
        self._kept = dict(kept)


async def _answer(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    found: "asyncio.Future[dict[str, str]]",
) -> None:
    """Answer one request of a browser; other pages than the callback are not found."""
    try:
        line = (await reader.readline()).decode("latin-1").split(" ")
        while (await reader.readline()).strip():
            pass
        target = urlsplit(line[1] if len(line) > 1 else "")
        fields = {name: values[0] for name, values in parse_qs(target.query).items()}
        is_ours = target.path == _PATH and bool({"code", "error"} & fields.keys())
        text = "You may close this page and go back." if is_ours else "There is no such page."
        status = "200 OK" if is_ours else "404 Not Found"
        writer.write(_PAGE.format(status=status, size=len(text), text=text).encode())
        await writer.drain()
        if is_ours and not found.done():
            found.set_result(fields)
    except (OSError, ValueError):
        return  # a browser that goes away, or sends what is no request
    finally:
        writer.close()


def _bind(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    return bound
