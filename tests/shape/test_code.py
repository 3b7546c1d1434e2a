"""Rules about code that no linter knows."""

import ast
import re
from pathlib import Path

from tests.shape import tree

CATCH_ALL: dict[str, str] = {
    "execution/emitter.py": "a listener that fails must not change the outcome of a call",
    "durability/player.py": "whoever waits for the run is told; it stays stored as it was",
    "durability/stored_player.py": "whoever waits for the run is told; it can be played again",
    "execution/pipeline.py": "a call that fails before its path exists is recorded all the same",
    "execution/steps/idempotency.py": "whatever broke, the key's outcome is written down first",
    "execution/steps/record.py": "this is where every call is recorded, whatever broke",
    "execution/steps/run.py": "what foreign code raises becomes one of our errors here",
    "features/pins/sorting.py": "what a foreign schema raises makes its tool unavailable",
    "graphs/runner.py": "what ends a play is raised again, until it becomes the end of its run",
    "graphs/nodes.py": "a kind of node is foreign code: what it raises is its node's failure",
    "observability/outbox.py": "events that failed are counted, and later ones must get through",
    "runtime/source_asker.py": "what a source raises becomes its reason, and stops no other source",
    "servers/http/shell.py": "what no route foresaw is logged under an id, and told by it alone",
    "servers/http/websocket/connection.py": "what no message foresaw is told by its id alone",
    "servers/http/websocket/door.py": "a connection that fails is logged, and ended with a code",
    "servers/mcp/handlers.py": "what no request foresaw is logged, and told by its id alone",
    "servers/mcp/telling.py": "a client that cannot be told of its call's progress fails no call",
    "servers/mcp/watching.py": "a client that cannot be told of a change holds up no other",
    "sources/langchain/client.py": "whatever a function that makes tools raises becomes a reason",
    "sources/mcp/session.py": "whatever ends a session is told to who waits for it, and no other",
    "sources/mcp/upstream.py": "what the MCP library raises becomes one of our errors here",
    "storage/auditing.py": "a call that cannot be redacted is kept in the trail without its reason",
    "storage/databases/outbox.py": "one bad row must not stop the others, and is counted",
    "storage/databases/writer.py": "one bad row must not stop the others; who awaits it is told",
    "tools/going_on.py": "what no round of background work foresaw is logged, and the next comes",
    "tools/importing.py": "whatever a module raises at import becomes a reason",
    "tools/threads.py": "what a tool raised in its thread is handed to the task that waits for it",
}
UNFINISHED: dict[str, str] = {
    "testing/durability_steps.py": "how a store is made and opened is what whoever inherits writes",
    "testing/source_contract.py": "`open_source` is what whoever inherits the contract writes",
}
ERRORS_OF_THEIR_OWN: dict[str, str] = {
    "features/marketplace/entry.py:Unfit": "a signal inside one room, which never leaves it",
    "graphs/halts.py:Parked": "a signal inside one room, which never leaves it",
    "graphs/halts.py:Stopped": "a signal inside one room, which never leaves it",
    "graphs/halts.py:StoreFailed": "a signal inside one room, which never leaves it",
    "sources/openapi/addresses.py:BadAddress": "a signal inside one source, which never leaves it",
    "sources/openapi/parsing.py:Unreadable": "a signal inside one source, which never leaves it",
    "sources/openapi/references.py:BadReference": "a signal inside one source; it stays there",
    "sources/openapi/refusals.py:ApiAnswer": "what the API said, kept as the cause of our errors",
    "sources/sql/session.py:Stale": "a signal inside one source, which never leaves it",
    "testing/durability_plays.py:Odd": "what a step of the suite raises on purpose",
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
