"""Layer 1: the share of each result."""

import pytest

from pegboard.engines.context import ContextLimits
from pegboard.engines.context.result_budget import share_results

LIMITS = ContextLimits(result_bytes=32_000)


@pytest.mark.parametrize(
    ("count", "free", "share"),
    [
        (1, None, 32_000),
        (40, None, 4_500),
        (1, 10_000, 17_500),
        (5, 10_000, 3_100),
        (1, 1_000_000, 32_000),
        (40, 0, 200),
    ],
    ids=["unknown", "many, unknown", "one", "several", "much room", "none"],
)
def test_results_of_a_turn_share_the_room(count: int, free: int | None, share: int) -> None:
    assert share_results(LIMITS, count=count, free_units=free) == share
