"""A graph or a run as text: Mermaid for a page, a tree and a waterfall for a terminal."""

import re
from collections.abc import Iterator, Sequence

from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.run import NodeRun, RunResult

_WIDTH = 40
_SHAPES = {"wait": ("([", "])"), "graph": ("[[", "]]"), "value": ("[/", "/]")}
MARKS = {
    NodeState.COMPLETED: "✓",
    NodeState.FAILED: "✗",
    NodeState.SKIPPED: "·",
    NodeState.CANCELLED: "⊘",
    NodeState.UNKNOWN: "?",
    NodeState.WAITING: "…",
    NodeState.PAUSED: "‖",
    NodeState.IN_PROGRESS: "▸",
}


def mermaid(graph: Graph, result: RunResult | None = None) -> str:
    """The graph as a Mermaid flow chart; with a run, each node in the class of its state."""
    names = {node.id: f"n{place}" for place, node in enumerate(graph)}
    lines = ["flowchart TD"]
    for node in graph:
        begin, end = _SHAPES.get(node.kind, ("[", "]"))
        lines.append(f'    {names[node.id]}{begin}"{_label(node)}"{end}')
    for node in graph:
        for edge in node.edges:
            if edge.node in names:
                said = " and ".join(
                    part
                    for part in (edge.outcome if edge.outcome != "completed" else "", edge.when)
                    if part
                )
                arrow = f'-->|"{_plain(said)}"|' if said else "-->"
                lines.append(f"    {names[edge.node]} {arrow} {names[node.id]}")
    if result is not None:
        lines += [
            f"    class {names[run.id]} {run.state.value}"
            for run in result.nodes
            if run.id in names
        ]
    return "\n".join(lines) + "\n"


def node_label(node: Node) -> tuple[str, str]:
    """What a box says of a node: its name, and what it does where the name is another."""
    what = " | ".join(node.tools) or node.kind
    name = node.title if node.title and node.title != what else node.id
    return name, "" if name == what else what


def tree(graph: Graph, result: RunResult | None = None) -> str:
    """The graph as a tree for a terminal: each node below the last that comes before it."""
    order = {node.id: place for place, node in enumerate(graph)}
    below: dict[str, list[Node]] = {"": []}
    for node in graph:
        known = [name for name in node.depends_on if name in order]
        parent = max(known, key=order.__getitem__) if known else ""
        below.setdefault(parent, []).append(node)
    runs = {} if result is None else {run.id: run for run in result.nodes}
    title = graph.name or graph.id or "graph"
    return "\n".join([_safe(title), *_branches("", below, runs, indent="", seen=set())]) + "\n"


def waterfall(result: RunResult, *, width: int = _WIDTH) -> str:
    """A run on a time line for a terminal: one line a node, and one for each of its parts."""
    runs = [run for node in result.nodes for run in node]
    begun = [run for run in runs if run.started_at]
    first = min((run.started_at for run in begun), default=0.0)
    last = max((run.started_at + run.duration_ms / 1000 for run in begun), default=first)
    scale = width / (last - first) if last > first else 0.0
    longest = max((len(_safe(run.id)) for run in runs), default=0)
    lines: list[str] = []
    for run in runs:
        start = int((run.started_at - first) * scale) if run.started_at else 0
        length = max(1, round(run.duration_ms / 1000 * scale)) if run.started_at else 0
        start = min(start, width - 1)
        bar = f"{' ' * start}{'█' * min(length, width - start)}"
        took = f"{run.duration_ms:.0f} ms  {_tool_name(run)}" if run.started_at else _why_not(run)
        mark = MARKS.get(run.state, " ")
        lines.append(f"{mark} {_safe(run.id):<{longest}} |{bar:<{width}}| {_safe(took)}".rstrip())
    return "\n".join(lines) + "\n"


def _tool_name(run: NodeRun) -> str:
    return f"{run.tool}, which stood in for {run.instead_of}" if run.instead_of else run.tool


def _why_not(run: NodeRun) -> str:
    """Why it never started: a reason, or the tool that was tried and what it failed with."""
    if run.reason or run.error is None:
        return run.reason
    return f"{run.error.get('message') or run.error['code']}"


def _branches(
    parent: str,
    below: dict[str, list[Node]],
    runs: dict[str, NodeRun],
    *,
    indent: str,
    seen: set[str],
) -> Iterator[str]:
    nodes: Sequence[Node] = below.get(parent, ())
    for place, node in enumerate(nodes):
        is_last = place == len(nodes) - 1
        run = runs.get(node.id)
        mark = "" if run is None else f"{MARKS.get(run.state, ' ')} "
        others = [name for name in node.depends_on if name != parent]
        after = f"  (after {', '.join(others)})" if others and parent else ""
        line = f"{indent}{'└─ ' if is_last else '├─ '}{mark}{_tree_line(node)}{after}"
        yield _safe(line)
        if node.id not in seen:
            seen.add(node.id)
            deeper = indent + ("   " if is_last else "│  ")
            yield from _branches(node.id, below, runs, indent=deeper, seen=seen)


def _tree_line(node: Node) -> str:
    what = " | ".join(node.tools) or node.kind
    when = f" when {node.when}" if node.when else ""
    each = " for each" if node.for_each is not None else ""
    return f"{node.id}: {what}{each}{when}"


def _label(node: Node) -> str:
    name, what = node_label(node)
    return _plain(f"{name}: {what}" if what else name)


def _plain(text: str) -> str:
    """Text that cannot end a label or begin markup."""
    named = {'"': "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;", "`": "#96;"}
    return re.sub(r'["<>#`]', lambda match: named[match[0]], _safe(text))


def _safe(text: str) -> str:
    """Text in one line that moves no cursor."""
    return "".join(char if char.isprintable() else " " for char in text)
