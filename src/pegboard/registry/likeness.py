"""Which names were perhaps meant by one that does not exist."""

from collections.abc import Callable, Iterable
from itertools import islice
from operator import itemgetter

_LONGEST = 64
_CANDIDATES = 50


def nearest_names(
    name: str, names: Iterable[str], *, may_name: Callable[[str], bool] = lambda _: True
) -> tuple[str, ...]:
    """At most three names that were perhaps meant, of those that may be named."""
    from difflib import get_close_matches

    name = name[:_LONGEST]
    likely = list(islice(filter(may_name, _by_likeness(name, names)), _CANDIDATES))
    close = get_close_matches(name, likely, n=3, cutoff=0.6)
    return tuple(close or [item for item in likely if item.endswith(f"__{name}")][:3])


def _by_likeness(name: str, names: Iterable[str]) -> list[str]:
    """Names that share pairs of letters with this one, the most first.

    Comparing it with ten thousand names letter by letter would hold up every other call.
    """
    pairs = {name[i : i + 2] for i in range(len(name) - 1)}
    shared = [(sum(map(item.__contains__, pairs)), item) for item in names]
    shared.sort(key=itemgetter(0), reverse=True)
    return [item for count, item in shared if count]
