"""Adapters for tools of other frameworks, found by the name of their package.

An adapter is an entry point of the group `pegboard.adapters`, called as the top-level package that
one of the object's classes comes from: this room knows no framework.
"""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from pegboard.core.tool import Tool

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "pegboard.adapters"

Adapter = Callable[[Any, str], Tool]
"""Makes a tool of an object under a source, or raises `ToolSignatureError`."""


def adapter_of(candidate: Any) -> Adapter | None:
    """The adapter for an object; None when its framework has none."""
    packages = {kind.__module__.partition(".")[0] for kind in type(candidate).__mro__}
    if packages <= _PYTHONS_OWN:
        return None
    for name, entry in _entry_points().items():
        if name in packages:
            return entry.load()
    return None


_PYTHONS_OWN = frozenset({"builtins", "functools", "typing", "abc", "pegboard", "__main__"})


@cache
def _entry_points() -> "dict[str, EntryPoint]":
    """Entry points by package; none of them is imported."""
    # its import costs a seventh of ours
    from importlib.metadata import entry_points

    return {item.name: item for item in entry_points(group=GROUP)}
