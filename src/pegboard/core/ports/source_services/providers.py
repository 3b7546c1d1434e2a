"""The services of others that built-in tools use: search, mail, notifications and images."""

from dataclasses import dataclass, field

from pegboard.core.ports.http import HttpClient


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAccess:
    """A web search.

    Attributes:
        provider: `brave`, `tavily` or `searxng`; empty for none.
        url: The address of the API; empty for the provider's own.
    """

    provider: str = ""
    url: str = ""
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailAccess:
    """A mail server.

    Attributes:
        host: Empty for no server.
        tls: `implicit` from the first byte, `starttls`, or `none`.
        sender: The address in `From`, with or without a name.
        recipients: Globs over the addresses that may get mail; empty for all.
    """

    host: str = ""
    port: int = 0
    tls: str = "starttls"
    user: str = ""
    password: str = field(default="", repr=False)
    sender: str = ""
    recipients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationAccess:
    """Where notifications go.

    Attributes:
        url: Empty for nowhere. It may be a secret, as that of a Slack webhook is.
        format: `json`, `slack` or `ntfy`.
        token: Sent as a bearer token; empty for none.
    """

    url: str = field(default="", repr=False)
    format: str = "json"
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageAccess:
    """An images API in the format of OpenAI.

    Attributes:
        url: The base of the API; empty for OpenAI's own.
    """

    url: str = ""
    key: str = field(default="", repr=False)
    model: str = "gpt-image-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Providers:
    """The services that the operator has configured.

    Attributes:
        http: A guarded client that may also reach the hosts which the operator has configured here;
            None on a board without network. Callers never choose its addresses.
    """

    http: HttpClient | None = None
    search: SearchAccess = SearchAccess()
    mail: MailAccess = MailAccess()
    notifications: NotificationAccess = NotificationAccess()
    images: ImageAccess = ImageAccess()
