"""`pegboard doctor`: check the installation and the configuration."""

import platform
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import typer

from pegboard import __version__
from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.offline_storage import is_held
from pegboard.cli.options import BoardOption, DataOption, JsonOption, settings, with_board
from pegboard.cli.output.sources import reason_of
from pegboard.cli.output.tables import count_noun, say_json, table
from pegboard.errors import ConfigError

if TYPE_CHECKING:
    from pegboard.runtime import Pegboard, Settings

_EXTRAS = {
    "sql": "sqlglot",
    "server": "fastapi",
    "otel": "opentelemetry.sdk",
    "mcp": "mcp",
    "langchain": "langchain_core",
    "sandbox": "pydantic_monty",
}
Check = tuple[str, str, str]
"""What, its status, and the detail with what to do.

A status is `ok`, `unused`, `unchecked` (another process has it), `missing`, `failed` or `wrong`.
"""


def doctor(*, board: BoardOption = None, data: DataOption = None, json: JsonOption = False) -> None:
    """Check the installation, the settings, the board file and each source."""
    from pegboard.runtime.plugins import list_kinds

    checks: list[Check] = [
        ("python", "ok", platform.python_version()),
        ("pegboard", "ok", __version__),
        *(_extra(name, module) for name, module in _EXTRAS.items()),
        ("source kinds", "ok", ", ".join(list_kinds())),
    ]
    with exit_on_error():
        chosen = settings(board, data)
        checks += _settings(chosen)
        checks += _all(chosen)
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
    return [(f"setting {name}", "ok", str(value)) for name, value in changed.items()]


def _all(chosen: "Settings") -> list[Check]:
    """Check the data and the board; where a server has the data, the board without it."""
    try:
        return _board(chosen)
    except ConfigError as error:
        if chosen.data is None or not is_held(error):
            return [("board", "wrong", error.message)]
        held: Check = ("data", "unchecked", error.message)
    try:
        # a database that servers share is not held by one of them
        return [held, *_board(chosen.model_copy(update={"data": None}))]
    except ConfigError as error:
        return [held, ("board", "wrong", error.message)]


def _board(chosen: "Settings") -> list[Check]:
    async def ask(
        opened: "Pegboard",
    ) -> tuple[list[dict[str, Any]], tuple[str, ...], dict[str, str], list[Check]]:
        registry = opened.registry
        sandbox = {item.back_end: item.reason for item in await opened.sandbox_findings()}
        unused = registry.environment.policy.find_unused(registry.names())
        return await opened.health(), unused, sandbox, _entries(opened)

    name = str(chosen.board) if chosen.board is not None else "built-in tools only"
    found, unused, sandbox, entries = with_board(chosen, ask)
    rules = [(f"rule '{glob}'", "unused", "it matches no tool on the board") for glob in unused]
    walls = [
        (f"sandbox {back_end}", "missing" if reason else "ok", reason)
        for back_end, reason in sandbox.items()
    ]
    return [("board", "ok", name), *map(_source, found), *entries, *rules, *walls]


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
