"""Reading a foreign document: what is not of the expected shape reads as empty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

Node = Mapping[str, Any]
EMPTY: Node = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedNode:
    """A part of a document, and which file it stands in.

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
        """What stands under a key of it; nothing when there is no such key."""
        return LocatedNode(node=self.fields.get(key), file=self.file)

    def items(self) -> "list[LocatedNode]":
        """Its elements, when it is an array."""
        return [LocatedNode(node=item, file=self.file) for item in sequence(self.node)]


def mapping(value: object) -> Node:
    """The value if it is an object, else an empty one."""
    return cast("Node", value) if isinstance(value, dict) else EMPTY


def sequence(value: object) -> Sequence[Any]:
    """The value if it is an array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else ()


def text(value: object) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> tuple[str, ...]:
    """The texts of an array, each once."""
    return tuple(dict.fromkeys(item for item in sequence(value) if isinstance(item, str)))
