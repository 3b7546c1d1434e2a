"""The state of a run for display: its stored result, or what its events say."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from msgspec import structs, to_builtins

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.graph import LARGE, Graph, NodeState, is_large
from pegboard.core.ports.run_store import RUN_TAKEN_OVER, RunEvent, RunStore, StoredRun
from pegboard.core.run import NodeRun, RunResult
from pegboard.core.text.truncate import truncate
from pegboard.errors import GraphInvalid
from pegboard.features.runs.control import RUNNING_STATES
from pegboard.features.runs.event_feed import read_events
from pegboard.features.runs.questions import RunQuestion, find_open_questions
from pegboard.graphs import read_graph
from pegboard.graphs.documents.read import read_in_thread

MAX_TITLE = 120
_OWN_WORK = {
    "document": "Take in a document",
    "gather": "Look for documents to take in",
    "vectors": "Embed a base with another model",
}
"""What runs of a knowledge base do, by the kind of their only node, which names the graph too."""
_WAITING = frozenset({NodeState.WAITING.value, NodeState.UNKNOWN.value})
_WITHIN = re.compile(r"[\[#~/]")
"""Characters that end a node id in the path of one of its parts; no id contains them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWaitTime:
    """A time in which a step of a run waited.

    Attributes:
        started_at: Unix seconds.
        ended_at: None while it waits.
    """

    step: str
    started_at: float
    ended_at: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTakeover:
    """A time at which another server process continued the run.

    Attributes:
        at: Unix seconds.
        cause: `stopped` when the process before gave the run back, `lost` when it could not.
    """

    at: float
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run for display.

    Attributes:
        graph: The graph that it runs.
        result: Its state, nodes and output.
        waits: The times in which its steps waited; none in a list of runs.
        takeovers: When other processes continued it; none in a list of runs.
        questions: What its tools ask a person now; none in a list of runs.
    """

    run: StoredRun
    graph: Graph
    result: RunResult
    waits: tuple[RunWaitTime, ...] = ()
    takeovers: tuple[RunTakeover, ...] = ()
    questions: tuple[RunQuestion, ...] = ()

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.run.start.run_id

    @property
    def conversation(self) -> str:
        """The conversation whose message it answers; empty for none."""
        return str(self._first_config.get("conversation", ""))

    @property
    def title(self) -> str:
        """What it is about, for people: how its message begins, or what its graph does."""
        start = self.run.start
        if self.conversation:
            first = str(start.params.get("message", "")).strip().partition("\n\n")[0]
            return truncate(" ".join(first.split()), MAX_TITLE)
        kinds = [node.kind for node in self.graph]
        if kinds == [self.graph.name] and self.graph.name in _OWN_WORK:
            return _OWN_WORK[self.graph.name]
        steps = ", ".join(node.tool or node.id for node in self.graph)
        return self.graph.name or truncate(steps, MAX_TITLE) or self.graph.id or start.run_id

    @property
    def _first_config(self) -> Mapping[str, Any]:
        nodes: Sequence[Mapping[str, Any]] = self.run.start.graph.get("nodes", ())
        return nodes[0].get("config") or {} if nodes else {}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data."""
        start, result = self.run.start, self.result.to_dict()
        usage = self.result.count_usage()
        return {
            "run_id": start.run_id,
            "plan_id": self.run.plan_id or None,
            "task_id": self.graph.task_id or None,
            "graph": self.graph.name or self.graph.id,
            "title": self.title,
            "conversation": self.conversation,
            "state": result["state"],
            "params": dict(start.params),
            "output": result["output"],
            "error": result["error"],
            "nodes": result["nodes"],
            "pending": result["pending"],
            "waits": [asdict(item) for item in self.waits],
            "takeovers": [asdict(item) for item in self.takeovers],
            "questions": [item.to_dict() for item in self.questions],
            "usage": to_builtins(usage) if usage.requests else None,
            "principal": start.principal.id,
            "created_at": start.created_at,
            "finished_at": self.run.finished_at,
            "duration_ms": result["duration_ms"],
            "shortened": self.run.is_brief,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunList:
    """One page of runs, newest first."""

    runs: tuple[RunView, ...]
    next_cursor: str = ""


async def view_run(store: RunStore, run: StoredRun, *, now: float) -> RunView:
    """Read a run for display: its last stored result, or its events while it is running."""
    graph = await read_graph_of(run)
    events = await read_events(store, run.start.run_id)
    result = run.result
    if result is None or run.state in RUNNING_STATES:
        read = partial(result_from_events, run, graph, events, now=now)
        result = await in_thread(read, is_large=is_large(graph))
    return RunView(
        run=run,
        graph=graph,
        result=result,
        waits=find_waits(events, until=run.finished_at),
        takeovers=find_takeovers(events),
        questions=() if run.finished_at is not None else find_open_questions(events),
    )


def find_takeovers(events: Iterable[RunEvent]) -> tuple[RunTakeover, ...]:
    """When other processes continued a run, in order."""
    return tuple(
        RunTakeover(at=event.at, cause=str(event.data.get("cause", "")))
        for event in events
        if event.kind == RUN_TAKEN_OVER
    )


def find_waits(
    events: Iterable[RunEvent], *, until: float | None = None
) -> tuple[RunWaitTime, ...]:
    """The times in which steps waited, in the order in which they began.

    Args:
        events: The events of a run.
        until: When the run ended, which ended all waits; None while it has not.
    """
    found: list[RunWaitTime] = []
    open_: dict[str, int] = {}
    for event in events:
        if event.kind != "node_changed":
            continue
        step, is_waiting = event.data["node"], event.data["state"] in _WAITING
        if is_waiting and step not in open_:
            open_[step] = len(found)
            reason = event.data.get("reason", "")
            found.append(RunWaitTime(step=step, started_at=event.at, ended_at=until, reason=reason))
        elif not is_waiting and step in open_:
            at = open_.pop(step)
            found[at] = replace(found[at], ended_at=event.at)
    return tuple(found)


def result_from_events(
    run: StoredRun, graph: Graph, events: Sequence[RunEvent], *, now: float
) -> RunResult:
    """Build the result of a run that is running, or was when its server died."""
    begun: dict[str, NodeRun] = {}
    for event in events:
        if event.kind == "node_changed":
            node = _to_node_run(begun.get(event.data["node"]), event)
            begun[node.id] = node
    return RunResult(
        run_id=run.start.run_id,
        graph=graph.id or graph.name,
        state=run.state,
        nodes=_with_parts(graph, begun),
        started_at=run.start.created_at,
        duration_ms=round((now - run.start.created_at) * 1000, 3),
    )


def summarize(run: StoredRun) -> RunView:
    """Return a run for a list: its last stored result, without reading events."""
    graph = _read_small_graph(run)
    result = run.result or result_from_events(run, graph, (), now=run.start.created_at)
    return RunView(run=run, graph=graph, result=result)


async def read_graph_of(run: StoredRun) -> Graph:
    """Read the graph of a run; only its name if a newer version wrote it."""
    try:
        return await read_in_thread(run.start.graph)
    except GraphInvalid:
        return _name_only(run)


def _read_small_graph(run: StoredRun) -> Graph:
    """Read the graph of a run for a list; of a large one only its name."""
    try:
        is_small = len(run.start.graph.get("nodes", ())) < LARGE
        return read_graph(run.start.graph) if is_small else _name_only(run)
    except GraphInvalid:
        return _name_only(run)


def _name_only(run: StoredRun) -> Graph:
    said = run.start.graph
    named = {name: str(said.get(name, "")) for name in ("id", "name", "task_id")}
    return Graph(nodes=(), id=named["id"], name=named["name"], task_id=named["task_id"])


def _to_node_run(before: NodeRun | None, event: RunEvent) -> NodeRun:
    data = event.data
    state, duration = NodeState(data["state"]), float(data.get("duration_ms", 0.0))
    started_at = float(data.get("started_at", 0.0))
    if not started_at and state.is_final and duration:  # the event was stored by an older version
        started_at = event.at - duration / 1000
    elif not started_at and before is not None:
        started_at = before.started_at
    if not started_at and state is NodeState.IN_PROGRESS:
        started_at = event.at
    error = {"code": data["error_code"], "message": ""} if data.get("error_code") else None
    return NodeRun(
        id=data["node"],
        state=state,
        error=error,
        reason=data.get("reason", ""),
        started_at=started_at,
        duration_ms=duration,
        attempts=data.get("attempts", 0),
        tool=data.get("tool", ""),
        instead_of=data.get("instead_of", ""),
    )


def _with_parts(graph: Graph, begun: Mapping[str, NodeRun]) -> tuple[NodeRun, ...]:
    """The nodes of a graph, each with its parts as a flat list.

    Parts are items, rounds, attempts, and the nodes of an inner graph.
    """
    parts: dict[str, list[NodeRun]] = {}
    for id_, run in begun.items():
        outer = _WITHIN.split(id_, maxsplit=1)[0]
        if outer != id_:
            parts.setdefault(outer, []).append(run)
    return tuple(
        structs.replace(
            begun.get(node.id) or NodeRun(id=node.id, state=NodeState.PENDING),
            parts=tuple(parts.get(node.id, ())),
        )
        for node in graph
    )
