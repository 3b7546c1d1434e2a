"""The dependency graph on a terminal, and as Mermaid or SVG for a page."""

from collections.abc import Iterator
from typing import Any

_MERMAID_UNSAFE = str.maketrans({'"': "'", "\n": " ", "<": "(", ">": ")", "#": " "})


def as_tree(graph: dict[str, Any]) -> str:
    """Prerequisites above their dependants; a repeated tool is expanded once."""
    below: dict[str, list[str]] = {}
    needed: dict[str, int] = {}
    for edge in graph["edges"]:
        below.setdefault(edge["prerequisite"], []).append(edge["dependant"])
        needed[edge["dependant"]] = needed.get(edge["dependant"], 0) + 1
    missing = {node["id"] for node in graph["nodes"] if node["is_missing"]}
    drawn: set[str] = set()
    lines: list[str] = []
    for node in graph["nodes"]:
        if not needed.get(node["id"]) and below.get(node["id"]):
            lines += _branch(node["id"], below, missing, drawn, "", "")
    alone = [n["id"] for n in graph["nodes"] if n["id"] not in needed and n["id"] not in below]
    if alone:
        lines.append(f"without an edge: {', '.join(alone)}")
    return "\n".join(lines)


def _branch(
    node: str,
    below: dict[str, list[str]],
    missing: set[str],
    drawn: set[str],
    first: str,
    rest: str,
) -> Iterator[str]:
    """A node and what needs it; `first` stands before the node, `rest` before what is below."""
    mark = " (missing)" if node in missing else ""
    others = below.get(node, [])
    if node in drawn and others:
        yield f"{first}{node}{mark} (see above)"
        return
    drawn.add(node)
    yield f"{first}{node}{mark}"
    for index, other in enumerate(others):
        is_last = index == len(others) - 1
        yield from _branch(
            other,
            below,
            missing,
            drawn,
            f"{rest}{'└─ ' if is_last else '├─ '}",
            f"{rest}{'   ' if is_last else '│  '}",
        )


def as_mermaid(graph: dict[str, Any]) -> str:
    """A Mermaid flow chart; tools that are missing have dashed borders."""
    ids = {node["id"]: f"n{index}" for index, node in enumerate(graph["nodes"])}
    lines = ["graph LR"]
    for node in graph["nodes"]:
        label = node["id"].translate(_MERMAID_UNSAFE)
        lines.append(f'    {ids[node["id"]]}["{label}"]{":::missing" * node["is_missing"]}')
    lines += [
        f"    {ids[edge['prerequisite']]} --> {ids[edge['dependant']]}" for edge in graph["edges"]
    ]
    lines.append("    classDef missing stroke-dasharray: 4")
    return "\n".join(lines)


def as_svg(graph: dict[str, Any]) -> str:
    """An SVG; raises `InvalidRequest` for too many tools."""
    from pegboard.rendering.svg import dependencies

    return dependencies(graph)
