"""Suggestions for misspelt names: "did you mean"."""

from collections.abc import Callable, Iterable
from itertools import islice
from operator import itemgetter

_MAX_LENGTH = 64
_CANDIDATES = 200
_LIKE = 0.6
"""The minimal similarity of two names, from 0 to 1, as in `difflib`."""


def nearest_names(
    name: str,
    names: Iterable[str],
    *,
    most: int = 3,
    may_name: Callable[[str], bool] = lambda _: True,
) -> tuple[str, ...]:
    """The nearest existing names, the closest first, without regard to case.

    Args:
        name: The unknown name.
        names: The existing names.
        most: The maximal number of suggestions.
        may_name: Whether a name may be shown to the caller.
    """
    from difflib import get_close_matches

    folded = name[:_MAX_LENGTH].casefold()
    by_fold = {item.casefold(): item for item in names}
    likely = list(
        islice(filter(lambda it: may_name(by_fold[it]), _likely(folded, by_fold)), _CANDIDATES)
    )
    close = get_close_matches(folded, likely, n=most, cutoff=_LIKE)
    close = [item for item in close if _has_like_action(folded, item)]
    found = close or [item for item in likely if item.endswith(f"__{folded}")][:most]
    return tuple(by_fold[item] for item in found)


def did_you_mean(name: str, names: Iterable[str], *, most: int = 1, otherwise: str = "") -> str:
    """The text `did you mean 'x'?`, or another text when no name is close.

    Args:
        name: The unknown name.
        names: The existing names.
        most: The maximal number of suggestions.
        otherwise: The text when no name is close.
    """
    nearest = nearest_names(name, names, most=most)
    return f"did you mean {' or '.join(map(repr, nearest))}?" if nearest else otherwise


def _has_like_action(name: str, other: str) -> bool:
    """Whether the actions are similar, where both tools have the same source."""
    from difflib import SequenceMatcher

    source, separator, action = name.partition("__")
    if not separator or not other.startswith(f"{source}__"):
        return True
    return SequenceMatcher(None, action, other.removeprefix(f"{source}__")).ratio() >= _LIKE


def _likely(name: str, names: Iterable[str]) -> list[str]:
    """Names that share pairs of letters with this one, the most similar first.

    A full comparison with ten thousand names would block the event loop.
    """
    every = list(names)
    if len(every) <= _CANDIDATES:
        return every
    pairs = {name[i : i + 2] for i in range(len(name) - 1)}
    shared = [(sum(map(item.__contains__, pairs)), item) for item in every]
    shared.sort(key=itemgetter(0), reverse=True)
    return [item for count, item in shared if count]
