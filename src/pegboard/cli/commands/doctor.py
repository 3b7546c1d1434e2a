"""`pegboard doctor`: what is installed, configured, and wrong."""

import platform
from importlib.util import find_spec
from typing import Any

import typer

from pegboard import __version__
from pegboard.cli.exits import Exit, exits
from pegboard.cli.options import BoardOption, DataOption, JsonOption, settings, with_board
from pegboard.cli.output import say_json, table
from pegboard.errors import ConfigError
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.kinds import known_kinds

_EXTRAS = {
    "sql": "sqlglot",
    "server": "fastapi",
    "otel": "opentelemetry.sdk",
    "mcp": "mcp",
    "langchain": "langchain_core",
    "sandbox": "pydantic_monty",
}
Check = tuple[str, str, str]
"""What, `ok` / `unused` / `missing` / `failed` / `wrong`, and the detail with what to do."""


def doctor(*, board: BoardOption = None, data: DataOption = None, json: JsonOption = False) -> None:
    """Check the installation, the settings, the board file and each source."""
    checks: list[Check] = [
        ("python", "ok", platform.python_version()),
        ("pegboard", "ok", __version__),
        *(_extra(name, module) for name, module in _EXTRAS.items()),
        ("source kinds", "ok", ", ".join(known_kinds())),
    ]
    with exits():
        chosen = settings(board, data)
        checks += _settings(chosen)
        checks += _board(chosen)
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


def _settings(chosen: Settings) -> list[Check]:
    default = Settings()
    changed = {
        name: getattr(chosen, name)
        for name in Settings.model_fields
        if getattr(chosen, name) != getattr(default, name)
    }
    return [(f"setting {name}", "ok", str(value)) for name, value in changed.items()]


def _board(chosen: Settings) -> list[Check]:
    async def ask(
        opened: Pegboard,
    ) -> tuple[list[dict[str, Any]], tuple[str, ...], dict[str, str]]:
        registry = opened.registry
        sandbox = {item.back_end: item.reason for item in await opened.sandbox_findings()}
        return await opened.health(), registry.kit.policy.unused(registry.names()), sandbox

    name = str(chosen.board) if chosen.board is not None else "built-in tools only"
    try:
        found, unused, sandbox = with_board(chosen, ask)
    except ConfigError as error:
        return [("board", "wrong", error.message)]
    rules = [(f"rule '{glob}'", "unused", "it matches no tool of the board") for glob in unused]
    walls = [
        (f"sandbox {back_end}", "missing" if reason else "ok", reason)
        for back_end, reason in sandbox.items()
    ]
    return [("board", "ok", name), *(_source(item) for item in found), *rules, *walls]


def _source(item: dict[str, Any]) -> Check:
    well = item["status"] == "ok" and item["health"] == "healthy"
    detail = f"{item['tools']} tools" if well else item["reason"] or item["health_reason"]
    return (f"source {item['name']}", "ok" if well else "failed", detail)
