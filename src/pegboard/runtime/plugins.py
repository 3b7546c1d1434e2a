"""Discovers the source kinds of this installation."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from pegboard.core.ports.source import SourceKind
from pegboard.core.text.suggestions import did_you_mean
from pegboard.errors import ConfigError, SourceUnavailable

GROUP = "pegboard.sources"


@cache
def list_kinds() -> dict[str, EntryPoint]:
    """Entry points by kind; no plug is imported."""
    return {item.name: item for item in sorted(entry_points(group=GROUP), key=lambda i: i.name)}


def load_kind(name: str) -> SourceKind:
    """The kind of this name.

    Raises:
        ConfigError: There is none.
        SourceUnavailable: Its plug is broken.
    """
    entry = list_kinds().get(name)
    if entry is None:
        there = f"known are {', '.join(list_kinds())}"
        hint = did_you_mean(name, list_kinds(), otherwise=there)
        raise ConfigError(f"there is no source kind '{name}'; {hint}")
    try:
        kind = _load(entry)
    except (ImportError, AttributeError) as error:
        raise SourceUnavailable(
            f"the source kind '{name}' cannot be loaded from '{entry.value}': {error}; install its "
            "package again, or remove it"
        ) from error
    if not isinstance(kind, SourceKind):
        raise SourceUnavailable(
            f"'{entry.value}', the entry point of source kind '{name}', is not a SourceKind"
        )
    return kind


@cache
def _load(entry: EntryPoint) -> object:
    """Load an entry point; cached, since a registration of many tools loads it for each."""
    return entry.load()
