"""`SchemaDocument`: a JSON Schema with resolved references, for comparisons."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from pegboard.errors import SourceUnavailable
from pegboard.schemas.subschema import resolve_ref
from pegboard.schemas.validator import Validator, compile_schema

Node = Mapping[str, Any]

NEVER: Node = {"enum": []}
"""The schema `false`, which no value fits."""
UNREADABLE: Node = {"$dynamicRef": "#"}
"""Stands for a part that cannot be resolved: nothing is known about its values."""

DRAFTS = ("2020-12", "2019-09", "draft-07", "draft-06")
_LIBRARIES = ("$defs", "definitions")
_IN_A_LIBRARY = tuple(f"#/{name}/" for name in _LIBRARIES)


class SchemaDocument:
    """A schema whose references can be resolved.

    Args:
        root: JSON Schema, 2020-12 unless it says otherwise.
        closed: Whether an object that names its properties is taken to have no others, although
            JSON Schema lets it.

    Attributes:
        fault: Why it cannot be reasoned about; empty when it can.
    """

    def __init__(self, root: Any, *, closed: bool = False) -> None:
        self.root = root
        self.closed = closed
        node: Node = cast("Node", root) if isinstance(root, Mapping) else {}
        self._declared = str(node.get("$schema") or DRAFTS[0])
        self.draft = next((draft for draft in DRAFTS if draft in self._declared), "")
        self.ignores_beside_ref = "draft-0" in self.draft
        self._references: set[str] = set()
        self._validators: dict[int, tuple[Any, Validator | None]] = {}
        self.fault = self._fault()

    def nodes(self, schema: Any) -> tuple[Node, ...]:
        """The parts of a schema that must all hold: references and `allOf` are expanded."""
        return tuple(self._expand(schema, ()))

    def accepts(self, node: Node, value: Any) -> bool | None:
        """Whether a value fits a part of this document; None when that is unknown."""
        known = self._validators.get(id(node))
        if known is None:  # the node is kept with it, so that its id stays its own
            known = self._validators[id(node)] = (node, self._validator(node))
        return None if known[1] is None else known[1].is_valid(value)

    def extract(self, schema: Any) -> Any:
        """A part as a standalone schema; None when its references cannot be included."""
        if not isinstance(schema, Mapping) or schema is self.root:
            return cast("Any", schema)
        carried = self._carried
        part = cast("Node", schema)
        if carried is None:
            return None
        return {**carried, "allOf": [part]} if carried else part

    @property
    def _carried(self) -> dict[str, Any] | None:
        """What a part needs beside it to mean the same; None when that cannot be done."""
        if not all(reference.startswith(_IN_A_LIBRARY) for reference in self._references):
            return None
        if isinstance(self.root, bool):
            return {}
        root = cast("Node", self.root)
        return {key: root[key] for key in ("$schema", *_LIBRARIES) if key in root}

    def _validator(self, node: Node) -> Validator | None:
        if node is UNREADABLE:
            return None
        schema = self.extract(node)
        try:
            return None if schema is None else compile_schema("schema", schema)
        except SourceUnavailable:
            return None

    def _fault(self) -> str:
        root: Any = self.root
        if isinstance(root, bool):
            return ""
        if not isinstance(root, Mapping):
            return "is no JSON Schema"
        if not self.draft:
            return f"is written in '{self._declared[:80]}', which is not compared"
        if fault := self._survey():
            return fault
        try:
            compile_schema("schema", cast("Node", root))
        except SourceUnavailable as error:
            return error.message.removeprefix("'schema' ")
        return ""

    def _survey(self) -> str:
        """Note all references; what stands in the way of following them."""
        waiting: list[Any] = [self.root]
        while waiting:
            value = waiting.pop()
            if isinstance(value, Mapping):
                node = cast("Node", value)
                if node is not self.root and any(_is_text(node.get(k)) for k in ("$id", "$schema")):
                    return "gives a part an identity of its own ($id), which is not followed"
                if "prefixItems" in node and self.draft != DRAFTS[0]:
                    return "has 'prefixItems', which its draft does not know"
                if isinstance(reference := node.get("$ref"), str):
                    self._references.add(reference)
                waiting.extend(node.values())
            elif isinstance(value, (list, tuple)):
                waiting.extend(cast("list[Any]", value))
        return ""

    def _expand(self, schema: Any, open_references: tuple[str, ...]) -> Iterator[Node]:
        if schema is False:
            yield NEVER
        if not isinstance(schema, Mapping):
            return
        node = cast("Node", schema)
        reference = node.get("$ref")
        if isinstance(reference, str):
            target = resolve_ref(self.root, reference)
            if target is None or reference in open_references:
                yield UNREADABLE
            else:
                yield from self._expand(target, (*open_references, reference))
            if self.ignores_beside_ref:
                return
        yield node
        for part in node.get("allOf", ()):
            yield from self._expand(part, open_references)


def canonical(value: Any) -> bytes:
    """Canonical JSON: equal values have equal bytes."""
    from msgspec import json

    return json.encode(value, order="sorted", enc_hook=_as_json)


def plain(value: Any) -> Any:
    """The value as JSON-compatible data, in its own order."""
    from msgspec import json

    return json.decode(json.encode(value, enc_hook=_as_json))


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):  # one that cannot be changed, say
        return dict(cast("Node", value))
    return value.__name__ if isinstance(value, type) else repr(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
