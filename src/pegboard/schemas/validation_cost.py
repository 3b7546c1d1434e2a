"""What a validation may cost: the alternatives of a schema, and the work for one document.

`{"anyOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/b"}]}` visits `b` twice for the same value, and
each further definition in such a chain doubles the work. A validator visits them all before it
knows that a value does not fit, and keeps an error for each.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from pegboard.schemas.subschema import resolve_ref

if TYPE_CHECKING:
    import jsonschema_rs

MAX_BRANCHES = 10_000
"""Subschemas that may apply to one value, unless a board says otherwise.

Documents of large APIs have some hundreds.
"""
MAX_VISITS = 5_000_000
"""Visits of subschemas that one validation may take, some 15 ns each."""
MAX_DISTINCT_VISITS = 200_000
"""Different pairs of a subschema and a value for which it is decided whether they fit."""
MAX_REPORTED_VISITS = 200_000
"""Different pairs of a subschema and a value for which errors are listed, some 2 kB each."""
MAX_REPORTED_KILOBYTES = 50_000
"""Repeated visits, and kilobytes of values in messages, for which errors are listed."""
CHEAP = 500
"""Subschemas, counted with repetitions, up to which documents are validated without a count."""

_ENOUGH = 10**12
_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")
_MAPPINGS = ("dependentSchemas", "dependencies")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_OF_JSON_SCHEMA = ("http://json-schema.org/", "https://json-schema.org/")
_DATA = frozenset({"const", "default", "enum", "example", "examples"})
_BELOW = ("properties", "patternProperties", "$defs", "definitions")
_EACH_ITEM = ("items", "additionalItems", "contains", "unevaluatedItems")
_EACH_PROPERTY = ("propertyNames", "unevaluatedProperties")
_EACH = (*_EACH_ITEM, *_EACH_PROPERTY, "additionalProperties")

_MAX_STEPS = 100_000
"""Steps of a backtracking pattern; then the text counts as not matching."""

Node = Mapping[str, Any]
_NO_NODE: Node = {}


_limits: list[int] = []


@contextmanager
def limit_branches(most: int) -> Generator[None]:
    """Let so many subschemas apply to one value while a board is open.

    The limit is that of the process: of several boards, the largest counts.
    """
    _limits.append(most)
    try:
        yield
    finally:
        _limits.remove(most)


def read_branch_limit() -> int:
    """How many subschemas may apply to one value now."""
    return max(_limits, default=MAX_BRANCHES)


class SchemaCost:
    """Counts the subschemas of a schema that a validator visits.

    Attributes:
        root: The JSON Schema.
        fault: Why the counts are no bound: a reference that is not followed here. Empty until it
            is met.
    """

    def __init__(self, root: Node) -> None:
        self.root = root
        self._plain = _count_plain(root)
        self.fault = ""
        self._anchors: dict[str, Any] | None = None
        self._in_place: dict[int, int] = {}
        self._all: dict[int, int] = {}
        self._patterns: dict[str, jsonschema_rs.Validator] = {}

    def count_branches(self) -> int:
        """The largest number of subschemas that apply to one value."""
        if self._plain:
            return self._plain
        largest, seen, waiting = 0, set[int](), [cast("Any", self.root)]
        while waiting:
            node = waiting.pop()
            if isinstance(node, list):
                waiting.extend(cast("list[Any]", node))
            elif isinstance(node, Mapping) and id(cast("Node", node)) not in seen:
                here = cast("Node", node)
                seen.add(id(here))
                largest = max(largest, self._count(here, self._in_place, self.list_applied))
                waiting.extend(here.values())
        return largest

    def count_visits(self) -> int:
        """The subschemas with repetitions, as if each array had one item; many if recursive."""
        if self._plain:
            return self._plain
        return self._count(self.root, self._all, self._applied_and_below, cycle=_ENOUGH)

    def list_applied(self, node: Node) -> Iterator[Node]:
        """The subschemas that apply to the same value as a schema, one level down."""
        for key in _REFERENCES:
            if isinstance(reference := node.get(key), str):
                yield from self._targets(reference)
        for key in _LISTS:
            if isinstance(node.get(key), list):
                yield from _nodes(node[key])
        yield from _nodes([node.get(key) for key in _SINGLE])
        for key in _MAPPINGS:
            yield from _nodes(_values(node.get(key)))

    def list_below(self, node: Node, key: str | int) -> Iterator[Node]:
        """The subschemas for one item or property of a value, without those of `list_applied`."""
        if isinstance(key, int):
            first = node.get("prefixItems", node.get("items"))
            if isinstance(first, list):
                items = cast("list[Any]", first)
                yield from _nodes(items[key : key + 1])
            yield from _nodes([node.get(each) for each in _EACH_ITEM])
            return
        properties, patterns = node.get("properties"), node.get("patternProperties")
        named = cast("Node", properties) if isinstance(properties, Mapping) else _NO_NODE
        found = [named[key]] if key in named else []
        if isinstance(patterns, Mapping):
            found += [
                item
                for pattern, item in cast("Node", patterns).items()
                if self._matches(pattern, key)
            ]
        yield from _nodes(found or [node.get("additionalProperties")])
        yield from _nodes([node.get(each) for each in _EACH_PROPERTY])

    def _matches(self, pattern: str, name: str) -> bool:
        """Whether a pattern is found in the name of a property, as the validator finds it."""
        matcher = self._patterns.get(pattern)
        if matcher is None:
            import jsonschema_rs

            matcher = jsonschema_rs.validator_for(
                {"pattern": pattern}, pattern_options=regex_options()
            )
            self._patterns[pattern] = matcher
        return matcher.is_valid(name)

    def _applied_and_below(self, node: Node) -> Iterator[Node]:
        yield from self.list_applied(node)
        for key in _BELOW[:2]:
            yield from _nodes(_values(node.get(key)))
        for key in ("items", "prefixItems"):
            if isinstance(node.get(key), list):
                yield from _nodes(node[key])
        yield from _nodes([node.get(each) for each in _EACH])

    def _count(self, node: Node, known: dict[int, int], following: Any, *, cycle: int = 0) -> int:
        """One and the counts of what follows; a schema within itself counts as `cycle`."""
        found = known.get(id(node))
        if found is None:
            known[id(node)] = cycle
            total = 1
            for child in following(node):
                total += self._count(child, known, following, cycle=cycle)
            found = known[id(node)] = min(total, _ENOUGH)
        return found

    def _targets(self, reference: str) -> list[Node]:
        """The target of a reference; sets `fault` where it is not surely the validator's.

        Pointers and anchors of the document are followed, and of other documents only those of JSON
        Schema itself, which multiply nothing.
        """
        if self._anchors is None:
            self._anchors = self._read_anchors()
        place, _, fragment = reference.partition("#")
        if place in ("", str(self.root.get("$id", "")).partition("#")[0]):
            is_pointer = not fragment or fragment.startswith("/")
            found = resolve_ref(self.root, f"#{fragment}") if is_pointer else None
            target = found if is_pointer else self._anchors.get(fragment)
            if isinstance(target, (Mapping, bool)):
                return list(_nodes([target]))
        elif place.startswith(_OF_JSON_SCHEMA):
            return []
        self.fault = self.fault or (
            f"refers to '{reference[:100]}', which is not followed here; write references as "
            "'#/$defs/...'"
        )
        return []

    def _read_anchors(self) -> dict[str, Any]:
        anchors: dict[str, Any] = {}
        for name, node in _find_names(self.root):
            if name.startswith("#"):
                if anchors.setdefault(name[1:], node) is not node:
                    self.fault = f"has the anchor '{name[1:100]}' twice"
            elif node is not self.root and _has_reference(node):
                self.fault = (
                    f"gives a part with references an identity of its own ($id: '{name[:100]}'), "
                    "against which they are not resolved here; remove that $id, and write the "
                    "references as '#/$defs/...'"
                )
        return anchors


def _count_plain(root: Node) -> int:
    """The objects of a small schema without references, which are all visited at most once.

    It is the usual case, and an upper bound of both counts. 0 for any other schema.
    """
    count, waiting = 0, [cast("Any", root)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            count += 1
            if count > CHEAP or "$ref" in node or "$dynamicRef" in node or "$recursiveRef" in node:
                return 0
            waiting.extend(cast("Node", node).values())
        elif isinstance(node, list):
            waiting.extend(cast("list[Any]", node))
    return count


def regex_options() -> "jsonschema_rs.FancyRegexOptions":
    """How the validators match patterns."""
    import jsonschema_rs

    return jsonschema_rs.FancyRegexOptions(backtrack_limit=_MAX_STEPS)


def _has_reference(node: Any) -> bool:
    """Whether a schema refers to anything."""
    waiting: list[Any] = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            here = cast("Node", value)
            if any(key in here for key in _REFERENCES):
                return True
            waiting.extend(here.values())
        elif isinstance(value, list):
            waiting.extend(cast("list[Any]", value))
    return False


def is_affordable(cost: SchemaCost, document: Any) -> bool:
    """Whether it can be decided in reasonable time if a document fits."""
    return _Visits(cost, most=MAX_DISTINCT_VISITS).count(document) <= MAX_VISITS


def can_list_errors(cost: SchemaCost, document: Any) -> bool:
    """Whether the errors of a document can be listed in reasonable time and memory."""
    visits = _Visits(cost, most=MAX_REPORTED_VISITS, is_sized=True)
    return visits.count(document) - visits.distinct <= MAX_REPORTED_KILOBYTES


class _Visits:
    """Counts the visits of the validation of one document, without making them.

    Args:
        cost: The schema.
        most: Different pairs of a subschema and a value, beyond which the count is infinite.
        is_sized: Whether a visit counts another one for each kilobyte of its value.
    """

    def __init__(self, cost: SchemaCost, *, most: int, is_sized: bool = False) -> None:
        self._cost = cost
        self._most = most
        self._is_sized = is_sized
        self._known: dict[tuple[int, int], int] = {}
        self._sizes: dict[int, int] = {}

    @property
    def distinct(self) -> int:
        """Different pairs of a subschema and a value."""
        return len(self._known)

    def count(self, document: Any) -> int:
        """The number of visits, with repetitions."""
        try:
            return self._visit(self._cost.root, document)
        except (_TooMany, RecursionError):
            return _ENOUGH

    def _visit(self, node: Node, value: Any) -> int:
        key = (id(node), id(value))
        found = self._known.get(key)
        if found is not None:
            return found
        if len(self._known) >= self._most:
            raise _TooMany
        self._known[key] = 0  # a schema within itself is visited once
        total = 1 + (self._size(value) // 1000 if self._is_sized else 0)
        for child in self._cost.list_applied(node):
            total += self._visit(child, value)
        for step, item in _items(value):
            for child in self._cost.list_below(node, step):
                total += self._visit(child, item)
        self._known[key] = min(total, _ENOUGH)
        return self._known[key]

    def _size(self, value: Any) -> int:
        """The characters of a value as JSON, roughly."""
        if isinstance(value, str):
            return len(value)
        if not isinstance(value, (dict, list)):
            return 8
        known = self._sizes.get(id(cast("Any", value)))
        if known is None:
            known = sum(8 + self._size(item) for _, item in _items(value))
            self._sizes[id(cast("Any", value))] = known
        return known


class _TooMany(Exception):
    """There are more visits than may be counted."""


def _items(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return cast("dict[str | int, Any]", value).items()
    return enumerate(cast("list[Any]", value)) if isinstance(value, list) else ()


def _find_names(node: Any) -> Iterator[tuple[str, Any]]:
    """What the parts of a schema call themselves: `#anchor`, or an address."""
    waiting: list[Any] = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            here = cast("Node", value)
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(name := here.get(key), str):
                    yield f"#{name}", here
            for key in ("$id", "id"):  # `id` of draft 4
                if isinstance(name := here.get(key), str) and name:
                    yield name, here
            waiting.extend(item for key, item in here.items() if key not in _DATA)
        elif isinstance(value, list):
            waiting.extend(cast("list[Any]", value))


def _nodes(values: Any) -> Iterator[Node]:
    return (cast("Node", value) for value in values if isinstance(value, Mapping))


def _values(value: Any) -> list[Any]:
    return list(cast("Node", value).values()) if isinstance(value, Mapping) else []
