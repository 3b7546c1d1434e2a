"""What the checker knows of a graph: what each path in it leads to."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pegboard.core.graph import Graph, Node
from pegboard.core.tool import JsonSchema
from pegboard.errors import InvalidRequest
from pegboard.graphs.checks.context import CheckContext
from pegboard.graphs.checks.faults import Fault
from pegboard.graphs.checks.topology import Ancestors
from pegboard.graphs.expressions.references import (
    ASPECTS,
    Reference,
    is_path,
    is_template,
    literal,
    parse_reference,
    step_of,
)
from pegboard.graphs.tool_host import find_tool
from pegboard.schemas.subschema import SubSchema, schema_at

_ERROR: JsonSchema = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "retryable": {"type": "boolean"},
        "retry_after": {"type": "number"},
        "error_id": {"type": "string"},
        "node": {"type": "string"},
    },
    "additionalProperties": True,
}
_MAX_DEPTH = 20
_MAX_ITEMS = 500
"""Of a list that is looked at one by one; of a longer one nothing is known but its length."""


class GraphTypes:
    """One graph while it is checked.

    Args:
        graph: Of nodes that share an id nothing is known by it, since either may be meant.
        terms: What it is checked against.
        at: What its places begin with.

    Attributes:
        usable: Whether a tool can be called, of those that were looked at.
        fitting: What is known to fit an argument: by the origin of the value, the schema of the
            arguments, and the argument's name.
    """

    def __init__(self, graph: Graph, terms: CheckContext, *, at: str = "") -> None:
        self.graph = graph
        self.terms = terms
        self.at = at
        self._ancestors = Ancestors(graph)
        self._nodes: dict[str, Node | None] = {}
        for node in graph:
            self._nodes[node.id] = None if node.id in self._nodes else node
        self._outputs: dict[str, JsonSchema | None] = {}
        self._depth = 0
        self.usable: dict[str, bool] = {}
        self.fitting: dict[Hashable, JsonSchema] = {}

    def origin(self, value: Any) -> tuple[Hashable, ...] | None:
        """What tells one value from others of which as much is known; None for one by itself.

        Very many steps may get the same part of what the same tool gives, or the same literal.
        """
        if not is_path(value):
            is_plain = isinstance(value, (str, int, float, bool))
            return (type(value), value) if is_plain else None
        try:
            reference = parse_reference(value)
        except InvalidRequest:
            return None
        name = step_of(reference, self.graph) if reference.root == "steps" else None
        node = None if name is None else self._nodes.get(name)
        if node is None or reference.keys[1:2] != ("output",):
            return None
        return (id(self.output_of(node)), *reference.keys[2:])

    def output_of(self, node: Node) -> JsonSchema | None:
        """JSON Schema of what a node gives; None when nothing is known."""
        if node.id not in self._outputs:
            self._outputs[node.id] = None  # for a node that looks at itself
            self._outputs[node.id] = self._output_of(node)
        return self._outputs[node.id]

    def one_output_of(self, node: Node) -> JsonSchema | None:
        """The same, of one item or round of it."""
        kind = self.terms.kinds.get(node.kind)
        if kind is None or self._depth > _MAX_DEPTH:
            return None
        self._depth += 1
        schema = kind.output_schema(node, lambda value: self.schema_of(value, node))
        self._depth -= 1
        if schema is None and node.tools and "tool" in kind.fields:
            schema = self._output_of_tools(node.tools)
        return schema

    def infer_path(self, reference: Reference, node: Node | None) -> SubSchema:
        """What a path in a node leads to; of a step, only what its schema says."""
        if reference.root == "params":
            return schema_at(self.graph.params or None, reference.keys)
        if reference.root == "steps":
            return self._infer_step_path(reference)
        if reference.root == "env":
            return schema_at(_env_schema(self.terms.env), reference.keys)
        if reference.root == "index":
            return SubSchema(schema={"type": "integer", "minimum": 0})
        if node is None:
            return SubSchema()
        if reference.root == "item":
            return schema_at(self._item_of(node), reference.keys)
        return schema_at(self.one_output_of(node), reference.keys)

    def schema_of(self, value: Any, node: Node | None) -> JsonSchema:
        """The schema that a value with paths fits; open where nothing is known."""
        if is_path(value):
            try:
                return self.infer_path(parse_reference(value), node).schema or {}
            except InvalidRequest:
                return {}
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            properties = {name: self.schema_of(item, node) for name, item in items}
            return _hoist_definitions(
                {
                    "type": "object",
                    "properties": properties,
                    "required": list(properties),
                    "additionalProperties": False,
                }
            )
        if isinstance(value, (list, tuple)) and len(cast("Sequence[Any]", value)) > _MAX_ITEMS:
            return {"type": "array", "minItems": len(cast("Sequence[Any]", value))}
        if isinstance(value, (list, tuple)):
            parts = [self.schema_of(item, node) for item in cast("Sequence[Any]", value)]
            count = len(parts)
            return {
                "type": "array",
                "prefixItems": parts,
                "items": False,
                "minItems": count,
                "maxItems": count,
            }
        return {"type": "string"} if is_template(value) else {"const": literal(value)}

    def reference_fault(self, path: Reference, node: Node | None, place: str) -> Fault | None:
        """What is wrong with a path, where it stands; None when nothing is."""
        if path.root == "steps":
            return self._step_fault(path, node, place)
        if path.root == "env" and self.terms.env is not None:
            name = str(path.keys[0]) if path.keys else ""
            if name and name not in self.terms.env:
                message = f"{path.text}: graphs may not read '{name}' of the environment."
                return Fault(code="env_unknown", place=place, message=message)
        if path.root in {"item", "index", "output"} and not _has(node, path.root):
            wanted = {"item": "for_each", "index": "for_each or repeat", "output": "repeat"}
            message = (
                f"{path.text} is known inside a node with {wanted[path.root]} alone: in what it is "
                "given and in repeat.until, not in 'when' and 'edges'."
            )
            return Fault(code="item_outside", place=place, message=message)
        problem = self.infer_path(path, node).problem
        if not problem:
            return None
        code = "param_unknown" if path.root == "params" else "path_dangling"
        return Fault(code=code, place=place, message=f"{path.text} leads to nothing: {problem}.")

    def _step_fault(self, path: Reference, node: Node | None, place: str) -> Fault | None:
        if not path.keys:
            return None
        name = step_of(path, self.graph)
        if name is None or name not in self._nodes:
            known = ", ".join(item.id for item in self.graph.nodes[:8])
            message = f"{path.text}: there is no such step; there are {known}."
            return Fault(code="step_unknown", place=place, message=message)
        if node is not None and not self._may_come_before(name, node):
            message = (
                f"{path.text}: '{name}' need not have ended before. Let this node depend on it."
            )
            return Fault(code="step_not_before", place=place, message=message)
        if len(path.keys) > 1 and path.keys[1] not in ASPECTS:
            message = (
                f"{path.text}: of a step there are {', '.join(ASPECTS)}, as $.steps.{name}.output."
            )
            return Fault(code="path_dangling", place=place, message=message)
        problem = self._infer_step_path(path).problem
        if not problem:
            return None
        message = f"{path.text} leads to nothing: {problem}."
        return Fault(code="path_dangling", place=place, message=message)

    def _may_come_before(self, name: str, node: Node) -> bool:
        """Whether it does, or it cannot be told which node is meant."""
        is_meant = self._nodes[name] is not None and self._nodes[node.id] is not None
        return not is_meant or self._ancestors.comes_before(name, node.id)

    def _infer_step_path(self, reference: Reference) -> SubSchema:
        name = step_of(reference, self.graph)
        node = None if name is None else self._nodes.get(name)
        if node is None or len(reference.keys) < 2:
            return SubSchema()
        rest = reference.keys[2:]
        match reference.keys[1]:
            case "output":
                return schema_at(self.output_of(node), rest)
            case "state":
                return schema_at({"type": "string"}, rest)
            case "error":
                return schema_at(_ERROR, rest)
            case _:
                return SubSchema()

    def _output_of(self, node: Node) -> JsonSchema | None:
        one = self.one_output_of(node)
        if node.for_each is None:
            return one
        return _hoist_definitions({"type": "array", "items": one if one is not None else True})

    def _output_of_tools(self, names: Sequence[str]) -> JsonSchema | None:
        """What one of these gives, whichever answers; None when one of them does not say."""
        tools = [find_tool(self.terms.tools, name)[0] for name in names]
        schemas = [None if tool is None else tool.spec.output_schema for tool in tools]
        known = [schema for schema in schemas if schema is not None]
        if not known or len(known) < len(schemas):
            return None
        return known[0] if len(known) == 1 else _hoist_definitions({"anyOf": known})

    def _item_of(self, node: Node) -> JsonSchema | None:
        if node.for_each is None:
            return None
        items = self.schema_of(node.for_each.items, replace(node, for_each=None))
        if isinstance(node.for_each.items, (list, tuple)):
            parts = items.get("prefixItems")
            return _hoist_definitions({"anyOf": parts}) if parts else None
        return schema_at(items, (0,)).schema


def _env_schema(env: Collection[str] | None) -> JsonSchema | None:
    """What `$.env` is, as far as it is known."""
    if not isinstance(env, Mapping):
        return None
    properties = {name: _env_value(value) for name, value in cast("Mapping[str, Any]", env).items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _env_value(value: Any) -> JsonSchema:
    """What one value of `$.env` is; a program may give more than a board file can say."""
    types: dict[type[object], str] = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
    }
    said = types.get(cast("type[object]", type(value)))
    return {} if said is None else {"type": said, "const": value}


def _has(node: Node | None, root: str) -> bool:
    if node is None:
        return False
    is_each, is_repeated = node.for_each is not None, node.repeat is not None
    return {"item": is_each, "index": is_each or is_repeated, "output": is_repeated}[root]


def _hoist_definitions(schema: dict[str, Any]) -> JsonSchema:
    """A schema made of others that bring definitions along: those of one, where only one does."""
    inner = [schema.get("items"), *schema.get("anyOf", ()), *schema.get("properties", {}).values()]
    with_definitions = [
        cast("Mapping[str, Any]", item)
        for item in inner
        if isinstance(item, Mapping) and ("$defs" in item or "definitions" in item)
    ]
    if not with_definitions:
        return schema
    if len(with_definitions) > 1:
        return {}  # names of one may mean something else in another
    brought = with_definitions[0]
    return {**{key: brought[key] for key in ("$defs", "definitions") if key in brought}, **schema}
