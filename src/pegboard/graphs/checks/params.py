"""What a run is given, held against what its graph takes."""

from collections.abc import Mapping
from typing import Any, cast

from pegboard.core.graph import Graph
from pegboard.errors import InvalidRequest, ToolArgumentError
from pegboard.graphs.expressions.references import ABSENT


def checked(graph: Graph, params: Mapping[str, Any]) -> dict[str, Any]:
    """The params, valid; with defaults, and with what was declared and not given marked as absent.

    Raises:
        InvalidRequest: They do not fit; one line per problem.
    """
    if not graph.params:
        return dict(params)
    from pegboard.tools.schema_arguments import SchemaArguments, close_schema

    name = graph.name or graph.id or "graph"
    try:
        valid = SchemaArguments(name, close_schema(graph.params))(params)
    except ToolArgumentError as error:
        lines = "\n".join(f"- params.{problem}" for problem in error.problems)
        raise InvalidRequest(f"'{name}' takes other params:\n{lines}") from error
    properties = cast("Mapping[str, Any]", graph.params.get("properties") or {})
    for key, node in properties.items():
        if key not in valid:
            valid[key] = (
                node["default"] if isinstance(node, Mapping) and "default" in node else ABSENT
            )
    return valid
