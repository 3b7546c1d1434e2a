"""What was perhaps meant by a name that does not exist: the one place that says "did you mean"."""

from collections.abc import Callable, Iterable
from itertools import islice
from operator import itemgetter

_MAX_LENGTH = 64
_CANDIDATES = 50
_LIKE = 0.6
"""Of 1: how alike two names are at least, by the letters that they share in order."""


def nearest_names(
    name: str,
    names: Iterable[str],
    *,
    most: int = 3,
    may_name: Callable[[str], bool] = lambda _: True,
) -> tuple[str, ...]:
    """The names that were perhaps meant, the nearest first; small and capital letters are alike.

    Args:
        name: What does not exist.
        names: What exists.
        most: So many at most.
        may_name: Whether somebody may be told of a name.
    """
    from difflib import get_close_matches

    folded = name[:_MAX_LENGTH].casefold()
    by_fold = {item.casefold(): item for item in names}
    likely = list(
        islice(filter(lambda it: may_name(by_fold[it]), _likely(folded, by_fold)), _CANDIDATES)
    )
    close = get_close_matches(folded, likely, n=most, cutoff=_LIKE)
    found = close or [item for item in likely if item.endswith(f"__{folded}")][:most]
    return tuple(by_fold[item] for item in found)


def did_you_mean(name: str, names: Iterable[str], *, most: int = 1, otherwise: str = "") -> str:
    """The question `did you mean 'x'?`, or what else is to be said where nothing is near.

    Args:
        name: What does not exist.
        names: What exists.
        most: So many names at most.
        otherwise: Said where none of them is near.
    """
    nearest = nearest_names(name, names, most=most)
    return f"did you mean {' or '.join(map(repr, nearest))}?" if nearest else otherwise


def _likely(name: str, names: Iterable[str]) -> list[str]:
    """Names that share pairs of letters with this one, the most first; a few are all likely.

    Comparing it with ten thousand names letter by letter would hold up every other call.
    """
    every = list(names)
    if len(every) <= _CANDIDATES:
        return every
    pairs = {name[i : i + 2] for i in range(len(name) - 1)}
    shared = [(sum(map(item.__contains__, pairs)), item) for item in every]
    shared.sort(key=itemgetter(0), reverse=True)
    return [item for count, item in shared if count]
