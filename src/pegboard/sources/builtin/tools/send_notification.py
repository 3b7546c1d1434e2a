"""`send_notification`: posts a short message where the operator has configured."""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.http import HttpRequest
from pegboard.core.ports.services import Services
from pegboard.errors import InvalidRequest, SourceUnavailable
from pegboard.sources.builtin.provider_access import ProviderSettings, ask_provider, why_no_client
from pegboard.sources.builtin.service_access import services_of
from pegboard.tools import tool

Priority = Literal["low", "normal", "high"]
_SECONDS = 15.0
_MAX_BYTES = 100_000
_NTFY_PRIORITIES = {"low": 2, "normal": 3, "high": 5}
_SETTINGS = ProviderSettings(
    url_setting="PEGBOARD_NOTIFY_URL",
    key_setting="PEGBOARD_NOTIFY_URL and PEGBOARD_NOTIFY_TOKEN",
    is_quoted=False,  # the address is often a secret
)


class Notification(TypedDict):
    """What is sent, in the words of the tool."""

    title: str
    message: str
    priority: Priority
    link: str


class NotificationReceipt(TypedDict):
    """The notification was taken."""

    sent: bool


def availability(services: Services) -> str:
    """Return why the tool is unavailable: it needs an address, and ntfy a topic in it."""
    access = services.providers.notifications
    if not access.url:
        return "it needs a place to post to: set PEGBOARD_NOTIFY_URL to a webhook or an ntfy topic"
    if access.format == "ntfy" and not _split_topic(access.url)[1]:
        return "it needs a topic at the end of PEGBOARD_NOTIFY_URL, as https://ntfy.sh/topic"
    return why_no_client(services)


@tool(
    effect="write",
    destructive=False,
    category="general",
    timeout=20,
    tags=("notification", "alert", "message"),
)
async def send_notification(
    message: Annotated[str, Field(min_length=1, max_length=3000)],
    ctx: ToolContext[Services],
    *,
    title: Annotated[str, Field(max_length=200)] = "",
    priority: Priority = "normal",
    link: Annotated[str, Field(max_length=2000)] = "",
) -> NotificationReceipt:
    """Send a short notification to the people of this board, such as "the import has finished".

    It goes to the one place that the operator has set up, a chat channel or phones.

    Args:
        message: What to tell them, in plain text.
        ctx: Knows where to send it.
        title: A short headline.
        priority: "high" only for what cannot wait.
        link: A web page with more, with https:// or http://.
    """
    services = services_of(ctx)
    access = services.providers.notifications
    if reason := availability(services):
        raise SourceUnavailable(
            f"'send_notification' is unavailable: {reason}.", nothing_done=True, permanent=True
        )
    _check_link(link)
    url, body = _FORMATS[access.format](
        access.url, Notification(title=title, message=message, priority=priority, link=link)
    )
    headers = {"Content-Type": "application/json"}
    if access.token:
        headers["Authorization"] = f"Bearer {access.token}"
    request = HttpRequest(
        method="POST",
        url=url,
        headers=headers,
        content=json.dumps(body).encode(),
        timeout=_SECONDS,
        max_bytes=_MAX_BYTES,
        upstream="notifications",
    )
    await ask_provider(ctx, request, _SETTINGS)
    return NotificationReceipt(sent=True)


def _check_link(link: str) -> None:
    is_bad = not link.isprintable() or any(char in link for char in ' <>|"')
    if link and (is_bad or not link.lower().startswith(("https://", "http://"))):
        raise InvalidRequest("'link' is a web address, such as https://example.com/report.")


def _as_json(url: str, note: Notification) -> tuple[str, Mapping[str, Any]]:
    return url, note


def _as_slack(url: str, note: Notification) -> tuple[str, Mapping[str, Any]]:
    """Return the body of an incoming webhook; nothing in the text can mention a channel."""
    lines = [_escape(note["message"])]
    if note["title"]:
        lines.insert(0, f"*{_escape(note['title'])}*")
    if note["link"]:
        lines.append(f"<{_escape(note['link'])}>")
    mark = ":rotating_light: " if note["priority"] == "high" else ""
    return url, {"text": mark + "\n".join(lines)}


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _as_ntfy(url: str, note: Notification) -> tuple[str, Mapping[str, Any]]:
    """Return ntfy's JSON, which is posted to the server and not to the topic."""
    root, topic = _split_topic(url)
    body: dict[str, Any] = {
        "topic": topic,
        "message": note["message"],
        "priority": _NTFY_PRIORITIES[note["priority"]],
    }
    if note["title"]:
        body["title"] = note["title"]
    if note["link"]:
        body["click"] = note["link"]
    return root, body


def _split_topic(url: str) -> tuple[str, str]:
    """Return the address of an ntfy server, and the topic at the end of the address."""
    parts = urlsplit(url)
    folder, _, topic = parts.path.rstrip("/").rpartition("/")
    return urlunsplit((parts.scheme, parts.netloc, f"{folder}/", parts.query, "")), topic


_FORMATS: Mapping[str, Callable[[str, Notification], tuple[str, Mapping[str, Any]]]] = {
    "json": _as_json,
    "slack": _as_slack,
    "ntfy": _as_ntfy,
}
