"""`pegboard doctor`: check the installation and the configuration."""

import platform
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import typer

from pegboard import __version__
from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_board,
    with_client,
)
from pegboard.cli.output.sources import reason_of
from pegboard.cli.output.tables import count_noun, say_json, table
from pegboard.core.principal import LOCAL
from pegboard.errors import ConfigError, Unavailable

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient
    from pegboard.runtime import Pegboard, Settings

_EXTRAS = {
    "sql": "sqlglot",
    "postgres": "psycopg",
    "mysql": "pymysql",
    "duckdb": "duckdb",
    "server": "fastapi",
    "otel": "opentelemetry.sdk",
    "mcp": "mcp",
    "langchain": "langchain_core",
    "sandbox": "pydantic_monty",
    "models": "pydantic_ai",
    "s3": "obstore",
    "knowledge": "pypdfium2",
}
"""A module that each extra brings."""
Check = tuple[str, str, str]
"""What, its status, and the detail with what to do.

A status is `ok`, `unused`, `unchecked` (another process has it), `missing`, `failed` or `wrong`.
"""


def doctor(
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Check the installation, settings, board file and sources.

    Of a server it shows what its probe and its sources report.
    """
    from pegboard.runtime.plugins import list_kinds

    checks: list[Check] = [
        ("python", "ok", platform.python_version()),
        ("pegboard", "ok", __version__),
        *(_extra(name, module) for name, module in _EXTRAS.items()),
        ("source kinds", "ok", ", ".join(list_kinds())),
    ]
    with exit_on_error():
        chosen = settings(board, data, url)
        checks += _settings(chosen)
        checks += with_client(chosen, _check_server) if chosen.url else _all(chosen)
        if json:
            keys = ("check", "status", "detail")
            say_json([dict(zip(keys, check, strict=True)) for check in checks])
        else:
            table(("check", "status", "detail"), checks)
    found = {status for _, status, _ in checks}
    if "wrong" in found:
        raise typer.Exit(Exit.WRONG_USE)
    if "failed" in found:
        raise typer.Exit(Exit.UNAVAILABLE)


def _extra(name: str, module: str) -> Check:
    try:
        there = find_spec(module) is not None
    except ModuleNotFoundError:
        there = False
    advice = "" if there else f"pip install 'pegboard[{name}]'"
    return (f"extra {name}", "ok" if there else "missing", advice)


def _settings(chosen: "Settings") -> list[Check]:
    from pegboard.runtime import Settings

    default = Settings()
    changed = {
        name: getattr(chosen, name)
        for name in Settings.model_fields
        if getattr(chosen, name) != getattr(default, name)
    }
    checks = [(f"setting {name}", "ok", str(value)) for name, value in changed.items()]
    return [*checks, _master_key(chosen)]


def _master_key(chosen: "Settings") -> Check:
    """Where the master key of stored credentials is; a backup of the data leaves it out."""
    from pegboard.runtime.wiring.accounts.credentials import describe_keys

    where, is_missing = describe_keys(chosen)
    return ("master key", "missing" if is_missing else "ok", where)


async def _check_server(client: "BoardClient") -> list[Check]:
    """Check a server by its probe and its sources."""
    ready = await client.read_readiness()
    found = await client.list_sources(check=True)
    count = count_noun(ready.get("tools", 0), "tool")
    problem = ready.get("problem", "")
    server: Check = ("server", "failed" if problem else "ok", problem or count)
    agents = (await client.list_agents())["agents"]
    rules = ready.get("rules", ())
    return [server, *map(_source, found["sources"]), *map(_agent, agents), *map(_rule, rules)]


def _all(chosen: "Settings") -> list[Check]:
    """Check the data and the board.

    Of a server that has the data, the server is checked; else the board without the data.
    """
    from pegboard.cli.client.connect import use_holder
    from pegboard.runtime.holder import describe_process, find_holder, is_held

    try:
        return _board(chosen)
    except ConfigError as error:
        if chosen.data is None or not is_held(error):
            return [("board", "wrong", error.message)]
        process, holder = find_holder(chosen)
    who = describe_process(process, holder)
    said = f"{chosen.data} is in use by {who}, which answers no requests: it is not checked"
    held: Check = ("data", "unchecked", said)
    if holder is not None and holder.url:
        used = f"{who} uses it, and is checked at {holder.url}"
        return [("data", "ok", used), *use_holder(holder, _check_server)]
    try:
        # a database that servers share is not held by one of them
        return [held, *_board(chosen.model_copy(update={"data": None}))]
    except ConfigError as error:
        return [held, ("board", "wrong", error.message)]


def _board(chosen: "Settings") -> list[Check]:
    async def ask(
        opened: "Pegboard",
    ) -> tuple[list[dict[str, Any]], list[Check], dict[str, str], list[Check]]:
        sandbox = {item.back_end: item.reason for item in await opened.sandbox_findings()}
        found = await opened.health()
        rules = [_rule(rule.to_dict()) for rule in opened.find_unused_rules()]
        agents = list(map(_agent, await opened.agents.list(principal=LOCAL)))
        files = await _files(opened, chosen.files)
        return found, rules, sandbox, [*files, *_entries(opened), *agents]

    name = str(chosen.board) if chosen.board is not None else "built-in tools only"
    found, rules, sandbox, entries = with_board(chosen, ask)
    walls = [
        (f"sandbox {back_end}", "missing" if reason else "ok", reason)
        for back_end, reason in sandbox.items()
    ]
    return [("board", "ok", name), *map(_source, found), *entries, *rules, *walls]


async def _files(opened: "Pegboard", place: str) -> list[Check]:
    """Whether the bucket of files can be used, where there is one."""
    if not place:
        return []
    try:
        await opened.files.check_place()
    except Unavailable as error:
        reason = str(error.__cause__ or error).partition("\n")[0]
        return [("files", "failed", f"{place}: {reason}")]
    return [("files", "ok", place)]


def _rule(rule: dict[str, str]) -> Check:
    detail = f"{rule['where']}: {rule['reason']}" if rule["where"] else rule["reason"]
    return (f"{rule['rule']} rule '{rule['glob']}'", "unused", detail)


def _agent(item: dict[str, Any]) -> Check:
    reasons = [f"{name}: {reason}" for name, reason in item["missing"].items()]
    detail = item["unavailable"] or "; ".join(reasons) or count_noun(item["tool_count"], "tool")
    return (f"agent {item['name']}", "missing" if item["unavailable"] else "ok", detail)


def _source(item: dict[str, Any]) -> Check:
    well = item["status"] == "ok" and item["health"] == "healthy"
    return (f"source {item['name']}", "ok" if well else "failed", _detail(item, well=well))


def _detail(item: dict[str, Any], *, well: bool) -> str:
    reason = reason_of(item)
    if not well:
        return reason
    count, unavailable = count_noun(item["tools"], "tool"), item["unavailable"]
    if unavailable:
        count = f"{count}, {unavailable} unavailable"
    return f"{count}: {reason}" if reason else count


def _entries(opened: "Pegboard") -> list[Check]:
    """Entries of the `tools:` list and registered tools that cannot be used."""
    from pegboard.registry.health import why_unavailable

    specs = opened.registry.unavailable()
    return [(f"tool {s.name}", "missing", why_unavailable(s)) for s in specs if not s.source]
