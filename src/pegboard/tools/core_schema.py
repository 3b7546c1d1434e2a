"""Making pydantic enforce exactly the schema that it prints.

Pydantic's strict JSON mode takes a little more than its JSON Schema says: open models, NaN, digits
that pass for a date, `true` for `Literal[1]`. That is closed here, in a copy of the core schema.
Members of unions are marked in it, so that the place of a fault can be told from a member's name.

What cannot be closed (a validator of the author's that runs before the types, a text for `Any`) is
told by a look at the arguments: `Enforcement.is_suspicious` says when they must also be held
against the printed schema.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, cast

from pydantic_core import PydanticKnownError, SchemaValidator

from pegboard.schemas.strict_json import is_json

MEMBER = f"\0{os.urandom(8).hex()}"
"""Begins a step of pydantic's locations that names a member of a union, and no place.

No argument can have such a name.
"""

Text = str | bytes
Node = dict[str, Any]

_SCALARS = frozenset(("int", "float", "str", "bool"))
_TIMES = frozenset(("date", "datetime", "time", "timedelta"))
_OTHERS = frozenset(("any", "none", "bytes", "decimal", "uuid", "json", "literal", "enum"))
_URLS = frozenset(("url", "multi-host-url"))
_COLLECTIONS = frozenset(("list", "set", "frozenset", "deque", "generator"))
_DICTS = frozenset(("dict", "ordered-dict"))
_FIELDS = frozenset(("model-fields", "typed-dict", "dataclass-args"))
_PARTS = frozenset(("model", "model-field", "typed-dict-field", "dataclass", "dataclass-field"))
_WRAPPERS = frozenset(("nullable", "union", "tagged-union", "default", "definitions", "chain"))
_CHOOSERS = frozenset(("definition-ref", "json-or-python", "lax-or-strict", "function-after"))
_SAFE = _SCALARS.union(
    *(_TIMES, _OTHERS, _URLS, _COLLECTIONS, _DICTS, _FIELDS, _PARTS, _WRAPPERS, _CHOOSERS),
    ("tuple", "counter"),
)
_CHILD = ("schema", "items_schema", "keys_schema", "values_schema", "extras_schema")
_CHOSEN = ("json_schema", "python_schema", "lax_schema", "strict_schema")
_NUMBER = re.compile(r"\s*[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?\s*")
_WIDER_THAN_ASCII = re.compile(r"\\|\(\?|\[\^")


class _Mode(IntEnum):
    """How strict a place is.

    JSON goes in strictly. Where a function of the author stands before the types, they get Python
    values, and a date arrives as a text: there they are lax, and the printed schema guards.
    """

    STRICT = 0
    SHARED = 1
    LAX = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Enforcement:
    """A validator, and when it is not enough.

    Attributes:
        validate_json: Text to values, strictly; raises pydantic's `ValidationError`.
        is_suspicious: Whether a text must also be held against the printed schema; None for never.
    """

    validate_json: Callable[[Text], Any]
    is_suspicious: Callable[[Text], bool] | None


def enforcement(core_schema: Mapping[str, Any]) -> Enforcement:
    """What enforces a core schema of pydantic's."""
    core = dict(core_schema)
    walk = _Walk()
    schema = walk.through(core, _Mode.STRICT, None)
    if walk.has_functions:
        # a shared definition may be reached through a function, so that all are prepared for it
        schema = _Walk().through(core, _Mode.SHARED, None)
    # validators that models keep of themselves do not know what is changed here
    validator = SchemaValidator(cast("Any", schema), None, _use_prebuilt=False)
    return Enforcement(
        validate_json=validator.validate_json, is_suspicious=_suspicion(walk.suspects)
    )


def _always(_text: Text) -> bool:
    return True


def _is_no_json(text: Text) -> bool:
    """NaN and numbers beyond all bounds, which `Any` would let in."""
    return not is_json(text)


def _is_not_ascii(text: Text) -> bool:
    """Classes of characters mean more to pydantic than to JSON Schema."""
    return not text.isascii() or ("\\u" in text if isinstance(text, str) else b"\\u" in text)


def _suspicion(suspects: set[Callable[[Text], bool]]) -> Callable[[Text], bool] | None:
    if _always in suspects:
        return _always
    if len(suspects) > 1:
        return lambda text: any(suspect(text) for suspect in suspects)
    return next(iter(suspects), None)


class _Walk:
    """One way through a core schema: makes the stricter copy and notes what is suspicious."""

    def __init__(self) -> None:
        self.suspects: set[Callable[[Text], bool]] = set()
        self.has_functions = False

    def through(self, node: Node, mode: _Mode, extra: str | None) -> Node:
        """The stricter copy of a node.

        Args:
            node: A core schema, or a field of one.
            mode: How strict it is to be.
            extra: What the nearest configuration says of unknown properties.
        """
        kind = str(node["type"])
        if kind in {"function-before", "function-wrap"}:
            mode = self._behind_a_function(node, mode)
        elif kind not in _SAFE or node.get("custom_init"):
            self.suspects.add(_always)
        if "config" in node:  # the nearest one holds, as a whole
            extra = cast("Node", node["config"]).get("extra_fields_behavior")
        strict = mode is _Mode.STRICT or (kind in _SCALARS and mode is not _Mode.LAX)
        made: Node = node | {"strict": strict}
        self._adjust(kind, made, extra)
        self._descend(made, mode, extra)
        if kind == "tagged-union":
            made["choices"] = {
                tag: {"type": "union", "choices": [(item, MEMBER)], "auto_collapse": False}
                for tag, item in made["choices"].items()
            }
        return _check_first(kind, made, mode)

    def _behind_a_function(self, node: Node, mode: _Mode) -> _Mode:
        if cast("Node", node["schema"])["type"] in _URLS:
            return _Mode.LAX  # pydantic's own, around the class of the URL
        self.has_functions = True
        self.suspects.add(_always)
        return max(mode, _Mode.LAX)

    def _adjust(self, kind: str, made: Node, extra: str | None) -> None:
        if kind == "float":
            made["allow_inf_nan"] = False
        elif kind in _FIELDS:
            if made.get("extra_behavior", extra) != "allow":
                made["extra_behavior"] = "forbid"
            elif "extras_schema" not in made:
                self.suspects.add(_is_no_json)
        elif kind == "any" or _is_loose(kind, made):
            self.suspects.add(_is_no_json)
        elif kind == "str" and _WIDER_THAN_ASCII.search(str(made.get("pattern", ""))):
            self.suspects.add(_is_not_ascii)
        elif kind == "json-or-python":
            made["python_schema"] = made["json_schema"]
        elif kind == "lax-or-strict":
            chosen = made["strict_schema" if made["strict"] else "lax_schema"]
            made["strict_schema"] = made["lax_schema"] = chosen
        if kind == "generator":
            made["type"] = "list"  # a generator would hand its faults to the function

    def _descend(self, made: Node, mode: _Mode, extra: str | None) -> None:
        for key in (*_CHILD, *_CHOSEN):
            if isinstance(made.get(key), dict):
                made[key] = self.through(made[key], mode, extra)
        for key in ("items_schema", "steps", "definitions"):
            if isinstance(made.get(key), list):
                made[key] = [self.through(item, mode, extra) for item in made[key]]
        for key in ("fields", "choices"):
            if isinstance(made.get(key), dict):
                made[key] = {k: self.through(v, mode, extra) for k, v in made[key].items()}
        if made["type"] == "dataclass-args":
            made["fields"] = [self.through(item, mode, extra) for item in made["fields"]]
        if made["type"] == "union":
            made["choices"] = [
                (self.through(_without_label(item), mode, extra), f"{MEMBER}{index}")
                for index, item in enumerate(made["choices"])
            ]


def _without_label(choice: Any) -> Node:
    return cast("Node", choice[0] if isinstance(choice, tuple) else choice)


def _is_loose(kind: str, node: Node) -> bool:
    """Whether a collection takes anything."""
    if kind in _DICTS:
        return "values_schema" not in node
    return kind in _COLLECTIONS and "items_schema" not in node


def _check_first(kind: str, made: Node, mode: _Mode) -> Node:
    """The node behind a look at the raw value, where pydantic itself would take too much."""
    check: Callable[[Any], Any] | None = None
    if kind in _TIMES:
        is_needed = mode is not _Mode.STRICT or kind in {"date", "datetime"}
        check = _no_number(kind) if is_needed else None
    elif kind in {"literal", "enum"}:
        check = _of_a_members_type(kind, made.get("expected") or made["members"])
    if check is None:
        return made
    outer: Node = {"type": "function-before", "function": {"type": "no-info", "function": check}}
    if "ref" in made:
        outer["ref"] = made.pop("ref")
    return outer | {"schema": made | {"strict": False}}  # the value is Python's by now


def _no_number(kind: str) -> Callable[[Any], Any]:
    """Seconds since 1970 are no date, and seconds no duration."""
    error = "time_delta_type" if kind == "timedelta" else f"{kind}_type"

    def check(value: Any) -> Any:
        if isinstance(value, (int, float)) or (isinstance(value, str) and _NUMBER.fullmatch(value)):
            raise PydanticKnownError(cast("Any", error))
        return value

    return check


def _of_a_members_type(kind: str, members: list[Any]) -> Callable[[Any], Any] | None:
    """To Python `True == 1 == 1.0`; in JSON a boolean is no number."""
    values: list[Any] = [item.value if isinstance(item, Enum) else item for item in members]
    if all(isinstance(value, str) or value is None for value in values):
        return None
    types: set[type] = {type(value) for value in values}
    if types & {int, float}:
        types |= {int, float}
    *most, last = [repr(value) for value in values]
    expected = f"{', '.join(most)} or {last}" if most else last

    def check(value: Any) -> Any:
        if type(value) in types or isinstance(value, Enum):
            return value
        raise PydanticKnownError(
            "enum" if kind == "enum" else "literal_error", {"expected": expected}
        )

    return check
