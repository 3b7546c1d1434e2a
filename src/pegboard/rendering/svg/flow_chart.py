"""A graph, or a run of it, as a flow chart in SVG."""

from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.run import NodeRun, RunResult
from pegboard.rendering.svg.layered import Arrow, Box, draw_layers
from pegboard.rendering.text import MARKS, node_label

GOING_ON = frozenset({NodeState.IN_PROGRESS, NodeState.WAITING, NodeState.READY, NodeState.PAUSED})


def chart(graph: Graph, result: RunResult | None = None) -> str:
    """The graph in layers; with a run, each node in the colour of its state.

    Raises:
        InvalidRequest: It has more nodes than a picture can show.
    """
    runs = {} if result is None else {run.id: run for run in result.nodes}
    boxes = [_box(node, runs.get(node.id)) for node in graph]
    arrows = [
        Arrow(
            first=edge.node,
            second=node.id,
            label=" and ".join(
                part
                for part in (edge.outcome if edge.outcome != "completed" else "", edge.when)
                if part
            ),
            kind="failing" if edge.outcome == "failed" else "",
        )
        for node in graph
        for edge in node.edges
    ]
    title = graph.name or graph.id
    if result is not None:
        title = f"{title or result.run_id}: {result.state.value}"
    return draw_layers(boxes, arrows, title=title)


def _box(node: Node, run: NodeRun | None) -> Box:
    title, what = node_label(node)
    lines = [what] if what else []
    if node.for_each is not None:
        lines.append("for each item")
    if node.repeat is not None:
        lines.append(f"again until {node.repeat.until}")
    if node.when:
        lines.append(f"when {node.when}")
    kind = node.kind if node.kind in {"wait", "graph"} else ""
    if run is None:
        return Box(id=node.id, title=title, lines=tuple(lines), kind=kind)
    if run.started_at and run.state not in GOING_ON:
        lines.append(f"{run.state.value}, {took(run.duration_ms)}")
    else:
        lines.append(run.state.value)
    message = str((run.error or {}).get("message", "")) or run.reason
    return Box(
        id=node.id,
        title=title,
        lines=tuple(lines),
        kind=f"{kind} {run.state.value}".strip(),
        tip=message,
        mark=MARKS.get(run.state, ""),
    )


def took(milliseconds: float) -> str:
    """A duration as people say it."""
    if milliseconds < 1_000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1_000
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
