"""No worker is left alone with the slowest module at the end."""

from pathlib import Path
from typing import Any

import pytest
from tests.order import slow_first


class Made(pytest.Item):
    """A test of a module that has no code."""

    def runtest(self) -> None:
        """Do nothing."""


def made(session: Any, module: str, count: int, *marks: pytest.MarkDecorator) -> list[pytest.Item]:
    items: list[pytest.Item] = []
    for number in range(count):
        item = Made.from_parent(session, name=f"{module}-{number}", path=Path(module))
        for mark in marks:
            item.add_marker(mark)
        items.append(item)
    return items


def test_each_share_begins_with_slow_modules_and_the_slowest_first(
    request: pytest.FixtureRequest,
) -> None:
    slow, patient = pytest.mark.slow, pytest.mark.timeout(600)
    items = [
        *made(request.session, "a", 3),
        *made(request.session, "slow", 1, slow),
        *made(request.session, "b", 3, patient),
        *made(request.session, "slower", 2, slow, pytest.mark.timeout(60)),
        *made(request.session, "slowest", 2, slow, patient),
    ]

    ordered = [item.name for item in slow_first(items, 2)]

    # 11 tests: the first worker gets 5 of them, the second 6
    assert ordered[:5] == ["slowest-0", "slowest-1", "slow-0", "a-0", "a-1"]
    assert ordered[5:] == ["slower-0", "slower-1", "a-2", "b-0", "b-1", "b-2"]


@pytest.mark.parametrize("workers", [1, 2, 3, 7, 40])
def test_no_test_is_lost_or_doubled(request: pytest.FixtureRequest, workers: int) -> None:
    items = [
        *made(request.session, "a", 5),
        *made(request.session, "slow", 9, pytest.mark.slow),
        *made(request.session, "b", 6),
    ]

    ordered = slow_first(items, workers)

    assert sorted(item.name for item in ordered) == sorted(item.name for item in items)


def test_the_order_of_a_run_without_slow_tests_stays(request: pytest.FixtureRequest) -> None:
    items = [*made(request.session, "a", 3), *made(request.session, "b", 4)]

    assert slow_first(items, 3) == items
