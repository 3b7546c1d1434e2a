"""The schema of what is at a place within values, such as `items[0].price` of an output."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.schemas.document import SchemaDocument
from pegboard.schemas.value_set import ValueSet

MAX_ALTERNATIVES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaAtPath:
    """What is at a place.

    Attributes:
        schema: JSON Schema, with all that it refers to; `False` when there is never anything there,
            `{}` when nothing is known of it.
        is_always_there: Whether every value has something there.
    """

    schema: Any
    is_always_there: bool


def schema_at(schema: Any, path: Sequence[str | int], *, closed: bool = False) -> SchemaAtPath:
    """What a schema says of the values at a path.

    ```python
    schema_at({"properties": {"a": {"type": "integer"}}}, ["a"]).schema  # {"type": "integer"}
    ```

    Args:
        schema: JSON Schema of the whole.
        path: Names of properties, and places of arrays.
        closed: Take objects to have the properties that they name and no others.
    """
    document = SchemaDocument(schema, closed=closed)
    if document.fault:
        return SchemaAtPath(schema={}, is_always_there=False)
    found = [ValueSet.of(document, schema)]
    is_always_there = True
    for step in path:
        following: list[ValueSet] = []
        for values in _split(found):
            if values.is_empty:
                continue
            kind = "array" if isinstance(step, int) else "object"
            inner = values.get_item(step) if isinstance(step, int) else values.get_property(step)
            if kind in values.types and not inner.is_empty:
                following.append(inner)
            certain = values.required if isinstance(step, str) else range(values.min_items)
            is_only = values.types == frozenset({kind})
            is_always_there = is_always_there and is_only and step in certain
        found = following
    joined = [document.join(values.nodes) for values in found]
    if not joined:
        return SchemaAtPath(schema=False, is_always_there=False)
    whole = joined[0] if len(joined) == 1 else document.any_of(joined)
    return SchemaAtPath(schema=whole, is_always_there=is_always_there)


def _split(found: list[ValueSet]) -> list[ValueSet]:
    """Split value sets into one set for each alternative."""
    done: list[ValueSet] = []
    waiting = list(found)
    while waiting and len(done) + len(waiting) < MAX_ALTERNATIVES:
        values = waiting.pop(0)
        pieces = values.alternatives()
        if pieces:
            waiting = pieces + waiting
        else:
            done.append(values)
    return done + waiting
