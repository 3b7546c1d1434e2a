"""Runs as pages of them have them: large values are left out, and stay where one run is read.

A page has up to 200 runs, and the parameters and outputs of each may have megabytes.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run_store import StoredRun
from pegboard.core.run import NodeRun, RunResult
from pegboard.storage.json_text import dump, load

MAX_WHOLE = 16_384
"""Characters of JSON; a start or a result that has no more stays whole."""
_MAX_VALUE = 1_000
"""Characters of JSON of a parameter or an output that stays in a large one."""
_NAMES = ("id", "name", "task_id", "version")
_TITLE = ("message",)
"""The parameters that the title of a run is made of."""


def shorten_start(start: RunStart, whole: str) -> str | None:
    """The JSON text of a start for pages; None if they have all of it.

    Args:
        start: The input of the run.
        whole: Its JSON text.
    """
    if len(whole) <= MAX_WHOLE:
        return None
    params = {name: _cut(value) for name, value in start.params.items()}
    if len(dump(params)) > MAX_WHOLE // 2:  # there are very many
        params = {name: params[name] for name in _TITLE if name in params}
    graph = _shorten_graph(start.graph)
    return dump(structs.replace(start, params=params, graph=graph, env={}))


def shorten_result(result: RunResult, whole: str) -> str | None:
    """The same for a result: its outputs are left out, and the parts of its nodes."""
    if len(whole) <= MAX_WHOLE:
        return None
    nodes = tuple(map(_shorten_node, result.nodes))
    return dump(structs.replace(result, output=_cut(result.output), nodes=nodes))


def shorten_run(run: StoredRun) -> StoredRun:
    """A run as a page has it, sharing nothing with the original."""
    start = dump(run.start)
    brief = shorten_start(run.start, start)
    result = None if run.result is None else dump(run.result)
    brief_result = None if run.result is None else shorten_result(run.result, result or "")
    text = brief_result or result
    return structs.replace(
        run,
        start=load(brief or start, RunStart),
        result=None if text is None else load(text, RunResult),
        is_brief=bool(brief or brief_result),
    )


def _shorten_graph(graph: Mapping[str, Any]) -> Mapping[str, Any]:
    """A graph; of a large one its names, and what says to which conversation it belongs."""
    if len(dump(graph)) <= MAX_WHOLE // 2:
        return graph
    nodes = [{"id": node.get("id", ""), "config": _place(node)} for node in graph["nodes"][:1]]
    return {**{name: graph[name] for name in _NAMES if name in graph}, "nodes": nodes}


def _place(node: Mapping[str, Any]) -> Mapping[str, Any]:
    config: Mapping[str, Any] = node.get("config") or {}
    return {"conversation": config["conversation"]} if "conversation" in config else {}


def _shorten_node(node: NodeRun) -> NodeRun:
    usage = node.count_usage() if node.parts else node.usage
    return structs.replace(node, output=_cut(node.output), parts=(), tries=(), usage=usage)


def _cut(value: Any) -> Any:
    """A value; of a long text its beginning, and nothing of another large value."""
    if len(dump(value)) <= _MAX_VALUE:
        return value
    return value[:_MAX_VALUE] if isinstance(value, str) else None
