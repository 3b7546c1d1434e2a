"""Reports what a server serves, once it listens."""

from typing import Any
from urllib.parse import urlsplit

from pegboard.core.event import Notice
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.wiring.storage import storage_location

NO_BOARD = "none: the built-in tools are served; 'pegboard init' writes a board.yaml"
NO_CONSOLE = "not built: 'make web' builds it in a clone"
NO_DATA = "in memory: nothing is kept when the server stops; --data DIR keeps it"


def report_start(board: Pegboard, url: str) -> None:
    """Emit a notice with the address, board, data, console, sources and unused rules."""
    from pegboard.servers.http.console_files import ConsoleFiles  # with the web framework

    has_console = ConsoleFiles().find() is not None
    rules = [rule.to_dict() for rule in board.find_unused_rules() if rule.protects]
    sources = [_source(item) for item in board.observe_sources()]
    is_well = not rules and all(item["status"] == "ok" for item in sources)
    settings, kit = board.settings, board.registry.environment
    detail: dict[str, Any] = {
        "url": url,
        "board": str(settings.board) if settings.board is not None else NO_BOARD,
        "data": describe_data(settings),
        "console": f"{settings.public_url or url}/ui/" if has_console else NO_CONSOLE,
        "tools": len(board.registry),
        "sources": sources,
        "rules": rules,
    }
    kit.emitter.emit(
        Notice(
            about="server",
            level="info" if is_well else "warning",
            message=f"listens on {url}",
            at=kit.now(),
            detail=detail,
        )
    )


def describe_data(settings: Settings) -> str:
    """Where the data of a board are, without a password."""
    place = storage_location(settings)
    if place is None:
        return NO_DATA
    if settings.database is None:
        return str(place)
    address = urlsplit(str(place))
    return f"PostgreSQL {address.hostname or ''}{address.path}"


def _source(item: dict[str, Any]) -> dict[str, Any]:
    return {key: item[key] for key in ("name", "kind", "status", "tools", "reason")}
