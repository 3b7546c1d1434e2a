"""The order in which the workers of `pytest -n` run the tests."""

from collections.abc import Iterator, Sequence

import pytest


def slow_first(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """Begin each worker's share with modules that have slow tests, the slowest first.

    pytest-xdist cuts the list into as many equal shares as there are workers. Started last, a
    module that runs for a minute would leave the other workers with nothing to do.
    """
    modules: dict[object, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    slow = sorted(filter(_patience, modules.values()), key=_patience, reverse=True)
    others = (item for module in modules.values() if not _patience(module) for item in module)
    ordered: list[pytest.Item] = []
    for number in range(workers):
        share = [item for module in slow[number::workers] for item in module]
        size = (len(items) - len(ordered)) // (workers - number)
        ordered += [*share, *_take(others, size - len(share))]
    return ordered


def _patience(module: list[pytest.Item]) -> float:
    """The longest limit of a module's slow tests, in seconds; 0 when none is slow."""
    return max((_limit(item) for item in module if item.get_closest_marker("slow")), default=0)


def _limit(item: pytest.Item) -> float:
    timeout = item.get_closest_marker("timeout")
    return float(timeout.args[0]) if timeout is not None and timeout.args else 10


def _take(items: Iterator[pytest.Item], count: int) -> Iterator[pytest.Item]:
    while count > 0 and (item := next(items, None)) is not None:
        yield item
        count -= 1
