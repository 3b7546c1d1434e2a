"""The kinds of sources that people connect, with what a form needs to know."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pegboard.runtime.plugins import list_kinds, load_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectableKind:
    """A kind of source that a person can connect, where its configuration stays off this machine.

    Attributes:
        config_schema: The JSON Schema of its configuration. A property with `x-first` is one that
            most people fill in; the others have defaults that rarely change.
    """

    kind: str
    title: str
    config_schema: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """A `SourceKindAnswer`."""
        return {
            "kind": self.kind,
            "title": self.title,
            "config_schema": dict(self.config_schema),
        }


@cache
def list_connectable_kinds() -> tuple[ConnectableKind, ...]:
    """Those of this installation, by title.

    Raises:
        SourceUnavailable: A plug is broken.
    """
    kinds = [load_kind(name) for name in list_kinds()]
    found = [
        ConnectableKind(
            kind=item.kind, title=item.title, config_schema=item.config.model_json_schema()
        )
        for item in kinds
        if item.find_local_use is not None
    ]
    return tuple(sorted(found, key=lambda item: item.title))
