"""Rules about code that no linter knows."""

import ast
import re
from pathlib import Path

from tests.shape import tree

CATCH_ALL: dict[str, str] = {
    "concurrency/log_and_continue.py": "an unexpected error is logged; the background loop goes on",
    "concurrency/thread_pool.py": "an error of a tool is handed to the task that awaits its thread",
    "durability/memory/durability.py": "the error is handed to the waiters; the run stays stored",
    "durability/worker.py": "the error is handed to the waiters; the run can be replayed",
    "execution/emitter.py": "a listener that fails must not change the outcome of a call",
    "execution/pipeline.py": "a call that fails before its path is compiled is recorded too",
    "execution/steps/idempotency.py": "the outcome of a key is stored before any error goes on",
    "execution/steps/record.py": "every call is recorded here, whatever error ended it",
    "execution/steps/run.py": "an error raised by a tool becomes one of our errors here",
    "features/pins/classify.py": "an error raised for a foreign schema makes its tool unavailable",
    "documents/formats/pdf_tables.py": "any error of a library on a damaged page is a gap",
    "documents/formats/read_order.py": "any error of a library on a foreign file is its answer",
    "graphs/engine/graph_execution.py": "an error raised by a node kind becomes its node's failure",
    "graphs/runner.py": "an error that ends an attempt is raised again after its run ended",
    "concurrency/background_queue.py": "failed events are counted; later ones are still sent",
    "runtime/sources/refresher.py": "an error of a source becomes its reason and stops no other",
    "servers/http/middleware/security_headers.py": "an unhandled error is logged under an error id",
    "servers/http/websocket/connection.py": "an unhandled error is answered with an error id",
    "servers/http/websocket/endpoint.py": "an unhandled error is logged and closes the connection",
    "servers/mcp/change_notifications.py": "a failed notification must not delay other clients",
    "servers/mcp/listings.py": "a tool that cannot be shown must not hide all others",
    "servers/mcp/handlers.py": "an unhandled error is logged and answered with an error id",
    "servers/mcp/progress.py": "a failed progress notification must not fail the call",
    "sources/langchain/client.py": "an error raised by a tool factory becomes a reason",
    "sources/sql/drivers/sqlalchemy.py": "any driver's error counts as a stop once it was stopped",
    "sources/mcp/server.py": "an error of the MCP SDK becomes one of our errors here",
    "sources/mcp/session/session.py": "the error that ends a session goes to its waiters only",
    "storage/audit_entries.py": "a call that cannot be redacted is audited without its reason",
    "storage/databases/background_writer.py": "a bad row is counted and must not stop the others",
    "storage/databases/sqlite_writer.py": "a bad row must not stop the others; its waiter is told",
    "tools/import_objects.py": "an error raised while importing a module becomes a reason",
}
UNFINISHED: dict[str, str] = {
    "testing/durability_step_contract.py": "a subclass implements how a store is made and opened",
    "testing/source_contract.py": "a subclass implements `open_source`",
}
ERRORS_OF_THEIR_OWN: dict[str, str] = {
    "features/marketplace/entries.py:UnusableEntry": "an internal signal of one room",
    "graphs/engine/stop_signal.py:Suspended": "an internal signal of one room",
    "graphs/engine/stop_signal.py:Stopped": "an internal signal of one room",
    "graphs/engine/stop_signal.py:StoreFailed": "an internal signal of one room",
    "sources/openapi/call/error_responses.py:ApiErrorDetail": "the cause of our error",
    "sources/openapi/document/parser.py:Unreadable": "an internal signal of one source",
    "sources/openapi/document/references.py:BadReference": "an internal signal of one source",
    "sources/openapi/document/server_urls.py:BadServerUrl": "an internal signal of one source",
    "sources/sql/driver.py:StaleConnection": "an internal signal of one source",
    "testing/durability_scenarios.py:Odd": "raised on purpose by a step of the suite",
    "testing/scripted_model.py:ScriptDrift": "an AssertionError, for the tests of others",
}

_LATER = re.compile(r"\b(?:TO(?:DO)|FIX(?:ME))\b")
_SILENCED = re.compile(
    r"# (?:noqa|type: ignore|pyright: ignore)(?::? ?[\[\w\], -]*?[A-Z]+\d+|\[[\w, -]+\])?"
)
_REASON = re.compile(r"\W*\w+\W+\w+")


def test_everything_is_caught_only_where_a_reason_is_listed() -> None:
    broad = [
        tree.name(path)
        for path in tree.modules()
        if any(
            isinstance(node, ast.ExceptHandler) and _catches_everything(node)
            for node in ast.walk(tree.syntax(path))
        )
    ]

    assert tree.ratchet(broad, CATCH_ALL) == []


def test_nothing_is_left_for_later() -> None:
    later = [
        tree.name(path)
        for suffix in (".py", ".md", ".toml", "Makefile")
        for path in tree.files(tree.ROOT, suffix=suffix)
        if _LATER.search(path.read_text(encoding="utf-8"))
    ]

    assert later == []


def test_nothing_is_unfinished() -> None:
    unfinished = [
        tree.name(path)
        for path in tree.modules()
        if any(
            isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node)
            for node in ast.walk(tree.syntax(path))
        )
    ]

    assert tree.ratchet(unfinished, UNFINISHED) == []


def test_a_silenced_check_gives_its_reason_on_the_same_line() -> None:
    silent = [
        f"{tree.name(path)}:{number}"
        for path in tree.files(*tree.CODE, suffix=".py")
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := _SILENCED.search(line)) and not _REASON.match(line[match.end() :])
    ]

    assert silent == []


def test_errors_live_in_errors_py() -> None:
    elsewhere = [
        f"{tree.name(path)}:{node.name}"
        for path in tree.modules()
        if tree.name(path) != "errors.py"
        for node in tree.classes(path)
        if not node.name.startswith("_") and any(map(_is_error, node.bases))
    ]

    assert tree.ratchet(elsewhere, ERRORS_OF_THEIR_OWN) == []


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    """Whether whatever is raised ends here; a handler that cleans up and raises again is none."""
    if isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None:
        return False
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        isinstance(item, ast.Name) and item.id in {"Exception", "BaseException"} for item in caught
    )


def _is_error(parent: ast.expr) -> bool:
    called = parent.attr if isinstance(parent, ast.Attribute) else getattr(parent, "id", "")
    return called.endswith(("Error", "Exception"))
