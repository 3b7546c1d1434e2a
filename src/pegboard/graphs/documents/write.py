"""Writes graphs as documents: in our own form, and as plans of RFC-0003."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from pegboard.core.graph import Edge, Fallback, Graph, Node
from pegboard.core.tool import Retry
from pegboard.errors import InvalidRequest, PegboardError


def write_graph(graph: Graph) -> dict[str, Any]:
    """A graph as a document of our own form, without fields at their default.

    Raises:
        InvalidRequest: A retry names exception types, which no document can name.
    """
    return _to_json(graph)


def write_plan(graph: Graph) -> dict[str, Any]:
    """A graph of tool nodes as a plan of RFC-0003.

    Raises:
        InvalidRequest: It has what a plan cannot express; names the nodes.
    """
    if beyond := [node.id for node in graph if _is_beyond_a_plan(node)]:
        raise InvalidRequest(f"A plan cannot say what these nodes are: {', '.join(beyond)}.")
    written: dict[str, Any] = {"plan_id": graph.id, "task_id": graph.task_id}
    for name in ("name", "description", "params", "output", "timeout"):
        if value := getattr(graph, name):
            written[name] = value
    if graph.concurrency != Graph(nodes=()).concurrency:
        written["concurrency"] = graph.concurrency
    return written | {"steps": [_step(node) for node in graph]}


def write_retry(retry: Retry) -> dict[str, Any]:
    """A retry policy as a document, without fields at their default.

    Raises:
        InvalidRequest: It names exception types that are not Pegboard errors.
    """
    written = _fields(retry, leave_out=("on",))
    if retry.on:
        written["on"] = [_code(item) for item in retry.on]
    return written


def _code(item: str | type[Exception]) -> str:
    if isinstance(item, str):
        return item
    if issubclass(item, PegboardError):
        return item.code
    raise InvalidRequest(
        f"A document cannot name the exception {item.__name__}: use an error code."
    )


def _to_json(value: Any) -> Any:
    if isinstance(value, Retry):
        return write_retry(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _to_json(item) for key, item in items}
    if isinstance(value, (list, tuple)):
        return [_to_json(item) for item in cast("Sequence[Any]", value)]
    return value


def _fields(value: Any, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        default = field.default_factory() if callable(field.default_factory) else field.default
        if field.name not in leave_out and item != default:
            written[field.name] = _to_json(item)
    return written


def _is_beyond_a_plan(node: Node) -> bool:
    has_plain_edges = all(edge == Edge(node=edge.node) for edge in node.edges)
    is_one_call = node.kind == "tool" and node.repeat is None and not node.config
    return not is_one_call or node.join != "all" or not has_plain_edges


def _step(node: Node) -> dict[str, Any]:
    step: dict[str, Any] = {"step_id": _step_number(node.id), "tool_id": node.tool}
    if node.input:
        step["input_mapping"] = dict(node.input)
    if node.edges:
        step["depends_on"] = [_step_number(name) for name in node.depends_on]
    for name in ("title", "when", "timeout", "inferred"):
        if value := getattr(node, name):
            step[name] = value
    if node.on_failure != "fail":
        step["on_failure"] = node.on_failure
    if node.for_each is not None:
        step["for_each"] = {
            "items": node.for_each.items,
            "concurrency": node.for_each.concurrency,
            "on_failure": node.for_each.on_failure,
        }
    if node.fallbacks:
        step["fallbacks"] = [_fallback(item) for item in node.fallbacks]
    if node.retry is not None:
        step["retry"] = write_retry(node.retry)
    return step


def _fallback(item: Fallback) -> dict[str, Any]:
    written: dict[str, Any] = {"tool_id": item.tool}
    if item.input is not None:
        written["input_mapping"] = dict(item.input)
    return written


def _step_number(node_id: str) -> int | str:
    """An id as the RFC writes it: a number where it is one."""
    is_number = node_id.isascii() and node_id.isdigit() and str(int(node_id)) == node_id
    return int(node_id) if is_number else node_id
