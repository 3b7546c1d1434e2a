"""Which tools need which, as SVG."""

from collections.abc import Mapping
from typing import Any

from pegboard.rendering.svg.layered import Arrow, Box, draw_layers


def dependencies(graph: Mapping[str, Any]) -> str:
    """What is needed above what needs it; what is missing has a dashed border.

    Args:
        graph: A dependency graph as `GET /graph` shows it.

    Raises:
        InvalidRequest: It has more tools than a picture can show.
    """
    boxes = [
        Box(
            id=node["id"],
            title=node["id"],
            lines=(node.get("name") or "",) if node.get("name") != node["id"] else (),
            kind="missing" if node["is_missing"] else "",
            tip="missing" if node["is_missing"] else "",
        )
        for node in graph["nodes"]
    ]
    arrows = [Arrow(first=e["prerequisite"], second=e["dependant"]) for e in graph["edges"]]
    return draw_layers(boxes, arrows, title=f"Version {graph['version']}")
