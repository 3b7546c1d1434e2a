"""Connects to a server: as a child process, or through the board's guarded HTTP client."""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client

from pegboard.core.credential import CallCredential
from pegboard.core.ports.accounts.credentials import SourceCredentials
from pegboard.core.ports.http import HttpClient
from pegboard.core.ports.source_services.oauth_login import OAuthLogins
from pegboard.errors import MCPConnectionError, PegboardError, SourceUnavailable
from pegboard.sources.mcp.config import BearerToken, McpConfig, OAuthAccess, reveal
from pegboard.sources.mcp.sdk_log_filter import hide_closed_stream_errors
from pegboard.sources.mcp.transport.caller_token import CallerTokenTransport
from pegboard.sources.mcp.transport.guarded_http import GuardedTransport
from pegboard.sources.mcp.transport.http_failures import Endpoint
from pegboard.sources.mcp.transport.message_rate import MAX_MESSAGE_BYTES, MessageRate, default_rate
from pegboard.sources.mcp.transport.oauth import OAuthFlow
from pegboard.sources.mcp.transport.sse_endpoint import EndpointCheck
from pegboard.sources.mcp.transport.stdio import ServerCommand, ServerProcess, stdio_transport
from pegboard.tools.call_headers import CallHeaders

_SSE_READ_SECONDS = 24 * 3600.0
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
Transport = AbstractAsyncContextManager[Any]
hide_closed_stream_errors()


@dataclass(slots=True)
class ServerStatus:
    """The state of a connection below the protocol.

    Attributes:
        process: The server's; None over HTTP.
    """

    name: str
    process: ServerProcess | None = None

    def reason(self) -> str:
        """How the server process ended; empty without one."""
        return "" if self.process is None else self.process.reason()

    def last_words(self) -> str:
        """The last output of the server process; empty without one."""
        return "" if self.process is None else self.process.last_words()

    def offence(self) -> str:
        """The limit that the server process broke; empty for none."""
        return "" if self.process is None else self.process.offence


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Everything that a session needs to reach its server.

    Attributes:
        name: The name of the source.
        rate: How many messages each process or connection of the server may send.
        logins: Where its callers log in by OAuth; None where they cannot.
        credentials: Finds what its callers have connected; None where nothing is stored.
        use: The credential of the latest call on a session; None where callers have none.
        list_seconds: The time limit of a whole list.
        ping_seconds: The time limit of a ping.
    """

    name: str
    config: McpConfig
    http: HttpClient | None
    base_dir: Path
    logins: OAuthLogins | None = None
    credentials: SourceCredentials | None = field(default=None, compare=False)
    use: Callable[[], CallCredential] | None = field(default=None, compare=False)
    roots: tuple[Path, ...] = ()
    key: str = field(default="", compare=False)
    rate: Callable[[], MessageRate] = field(default=default_rate, compare=False)
    list_seconds: float = 60.0
    ping_seconds: float = 5.0

    @property
    def title(self) -> str:
        """The server in messages."""
        return f"MCP server '{self.name}'"

    @property
    def takes_caller(self) -> bool:
        """Whether each caller has a connected account there, and sessions of its own with it."""
        return (
            isinstance(self.config.auth, OAuthAccess)
            and self.logins is None
            and self.credentials is not None
        )

    @property
    def connect_timeout(self) -> float:
        """Seconds for the start and the handshake."""
        return self.config.connect_timeout

    @property
    def protocol(self) -> str:
        """The protocol era to begin with."""
        return self.config.protocol

    @property
    def may_ask(self) -> bool:
        """Whether the server may ask the caller."""
        return self.config.asks

    @property
    def log_level(self) -> Any:
        """The lowest level of the server's log lines."""
        return self.config.log_level

    @property
    def is_one_stream(self) -> bool:
        """Whether all answers come on one stream (SSE)."""
        return self.config.is_sse

    def may_be_sse(self, fault: PegboardError | None) -> bool:
        """Whether to try the older HTTP+SSE transport after this error."""
        return isinstance(fault, MCPConnectionError) and "not an MCP endpoint" in fault.message

    def transports(
        self,
        wire: ServerStatus,
        on_fault: Callable[[PegboardError], None],
        on_end: Callable[[], None],
        *,
        on_flood: Callable[[PegboardError], None],
    ) -> Sequence[Transport]:
        """The transports to try, in this order.

        Raises:
            SourceUnavailable: The board has no network.
        """
        if self.config.command:

            def on_start(process: ServerProcess) -> None:
                wire.process = process

            return [stdio_transport(self._command(), on_start, on_end, rate=self.rate())]
        if self.http is None:
            raise SourceUnavailable(f"{self.title}: this board has no network.", permanent=True)
        headers = CallHeaders(self._headers())
        guarded = GuardedTransport(
            self.http,
            endpoint=self._endpoint,
            upstream=f"mcp {self.name} {self.key}",
            timeout=self.config.connect_timeout,
            on_fault=on_fault,
            on_flood=on_flood,
            headers=headers,
            rate=self.rate(),
        )
        over = guarded if self.use is None else CallerTokenTransport(guarded, self.use)
        flow = self._create_flow()
        if self.config.is_sse:
            return [self._sse(over, headers.fixed, flow)]
        ways = [self._streamable(over, headers.fixed, flow)]
        if self.config.transport == "http":
            return ways
        return [*ways, self._sse(over, headers.fixed, flow)]

    def _create_flow(self) -> OAuthFlow | None:
        access = self.config.auth
        if not isinstance(access, OAuthAccess) or self.use is not None:
            return None
        if self.logins is None:
            raise MCPConnectionError(
                f"{self.title} needs a login by OAuth, which this program cannot offer.",
                permanent=True,
                nothing_done=True,
            )
        login = self.logins.find(self.name, self.key)
        return OAuthFlow(self.title, self.config.url, access, login)

    def hide(self, text: str) -> str:
        """Remove the secrets of the configuration from a text."""
        secrets = {
            text
            for value in self.config.env.values()
            if not isinstance(value, str)
            for text in reveal({"": value}).values()
        }
        for secret in secrets:
            text = text.replace(secret, "[redacted]") if len(secret) > 3 else text
        return text

    @property
    def _endpoint(self) -> Endpoint:
        return Endpoint(
            name=self.title,
            url=self.config.url,
            credential=self.config.credential,
            logs_in=isinstance(self.config.auth, OAuthAccess),
        )

    def _command(self) -> ServerCommand:
        config = self.config
        return ServerCommand(
            name=self.title,
            program=config.command,
            arguments=config.args,
            environment=get_default_environment() | reveal(config.env),
            directory=(self.base_dir / Path(config.cwd).expanduser()).resolve(),
            hide=self.hide,
        )

    def _headers(self) -> dict[str, str]:
        headers = reveal(self.config.headers)
        if isinstance(self.config.auth, BearerToken):
            headers["Authorization"] = f"Bearer {self.config.auth.token.get_secret_value()}"
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise self._header_error(name)
        return headers

    def _header_error(self, name: str) -> MCPConnectionError:
        if name == "Authorization" and self.config.auth is not None:
            where = "'auth.token'"
        else:
            where = f"'{name}' in 'headers'"
        return MCPConnectionError(
            f"{self.title}: {where} cannot be sent: a header has a name of letters, digits and "
            "'-', and a value of ASCII without line breaks.",
            permanent=True,
            nothing_done=True,
        )

    @asynccontextmanager
    async def _streamable(
        self, over: httpx2.AsyncBaseTransport, headers: dict[str, str], flow: OAuthFlow | None
    ) -> AsyncGenerator[Any]:
        async with (
            _client(over, headers, flow) as client,
            streamable_http_client(
                self.config.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
            ) as streams,
        ):
            yield streams

    @asynccontextmanager
    async def _sse(
        self, over: httpx2.AsyncBaseTransport, given: dict[str, str], flow: OAuthFlow | None
    ) -> AsyncGenerator[Any]:
        def made(
            headers: dict[str, str] | None = None,
            timeout: httpx2.Timeout | None = None,
            auth: httpx2.Auth | None = None,
        ) -> httpx2.AsyncClient:
            del timeout, auth
            return _client(EndpointCheck(over, endpoint=self._endpoint), headers or {}, flow)

        async with sse_client(
            self.config.url,
            headers=given,
            httpx_client_factory=made,
            sse_read_timeout=_SSE_READ_SECONDS,
        ) as streams:
            yield streams


def _client(
    over: httpx2.AsyncBaseTransport, headers: dict[str, str], flow: OAuthFlow | None
) -> httpx2.AsyncClient:
    """An HTTP client without connections, trust store or proxy of its own."""
    return httpx2.AsyncClient(transport=over, headers=headers, auth=flow, trust_env=False)
