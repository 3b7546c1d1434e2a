"""Completes names of tools in the shell: from a running server, or as the board was seen last."""

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

from pegboard.cli.tool_name_cache import read_tool_names
from pegboard.errors import PegboardError

if TYPE_CHECKING:
    from pegboard.runtime import Settings

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SECONDS = 1.0
_MOST = 200


def complete_tool(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of tools that begin so; it opens no board, and none are found without one."""
    from pegboard.cli.options import settings

    given = [ctx.params.get(name) for name in ("board", "data", "url")]
    try:
        chosen = settings(*given)
        names = _ask_server(chosen, incomplete)
        known = read_tool_names(chosen) if names is None else names
    except (
        PegboardError,
        OSError,
        ValueError,
        RuntimeError,
    ):  # the command itself says what is wrong
        return []
    return [name for name in known if name.startswith(incomplete) and _NAME.fullmatch(name)]


def _ask_server(chosen: "Settings", incomplete: str) -> list[str] | None:
    """Ask the server of the settings, or the one that has the data; None without an answer."""
    from pegboard.runtime.holder import find_holder

    if chosen.url:
        url, token = chosen.url, chosen.token.get_secret_value() if chosen.token else ""
    elif (holder := find_holder(chosen)[1]) is not None and holder.url:
        url, token = holder.url, holder.token
    else:
        return None
    with suppress(OSError):
        return _list_tools(url, token, incomplete)
    return None


def _list_tools(url: str, token: str, incomplete: str) -> list[str]:
    import json
    from urllib.parse import urlencode
    from urllib.request import ProxyHandler, Request, build_opener

    from pegboard.cli.client.addresses import is_loopback

    # a page begins after its cursor, in the order of names
    query = urlencode({"limit": _MOST, **({"cursor": incomplete} if incomplete else {})})
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = Request(f"{url.rstrip('/')}/v1/tools?{query}", headers=headers)  # noqa: S310 - of the settings
    opener = build_opener(*((ProxyHandler({}),) if is_loopback(url) else ()))
    with opener.open(request, timeout=_SECONDS) as answer:
        found: dict[str, Any] = json.load(answer)
    return [str(item["name"]) for item in found["tools"]]
