"""Reads a foreign document leniently: a value of an unexpected type reads as empty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

Node = Mapping[str, Any]
EMPTY: Node = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedNode:
    """A part of a document and the file that holds it.

    Attributes:
        file: Relative to the document's folder; empty for the document itself.
    """

    node: Any
    file: str = ""

    @property
    def fields(self) -> Node:
        """The part as an object."""
        return mapping(self.node)

    def at(self, key: str) -> "LocatedNode":
        """Return the part under a key; its node is None without that key."""
        return LocatedNode(node=self.fields.get(key), file=self.file)

    def items(self) -> "list[LocatedNode]":
        """Return the elements of an array."""
        return [LocatedNode(node=item, file=self.file) for item in sequence(self.node)]


def mapping(value: object) -> Node:
    """Return the value if it is an object, else an empty one."""
    return cast("Node", value) if isinstance(value, dict) else EMPTY


def sequence(value: object) -> Sequence[Any]:
    """Return the value if it is an array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else ()


def text(value: object) -> str:
    """Return the value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> tuple[str, ...]:
    """Return the strings of an array without duplicates."""
    return tuple(dict.fromkeys(item for item in sequence(value) if isinstance(item, str)))
