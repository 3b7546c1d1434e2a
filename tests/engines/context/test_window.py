"""Layer 4: what is left out of a request that does not fit."""

import pytest
from tests.engines.context.made import a_conversation, a_view, orphans

from pegboard.engines.context.window import drop_oldest


@pytest.mark.parametrize(
    ("target", "start"), [(3_200, 4), (2_300, 6), (1, 8)], ids=["one", "two", "all but the last"]
)
def test_so_much_is_left_out_that_the_target_is_reached(target: int, start: int) -> None:
    messages, question = a_conversation([3_000], [3_000], [3_000], [3_000])
    view = a_view(messages, question)
    assert view.tokens > 4_000

    dropped = drop_oldest(view, room=4_000, target=target, keep_turns=1)

    assert dropped.start == start
    assert not orphans(dropped.show())


def test_the_last_turns_stay() -> None:
    messages, question = a_conversation([3_000], [3_000], [3_000], [3_000])
    dropped = drop_oldest(a_view(messages, question), room=10, target=5, keep_turns=3)

    assert dropped.show()[-6:] == tuple(messages[-6:])
    again = drop_oldest(dropped, room=10, target=5, keep_turns=3)
    assert again is dropped


def test_a_request_that_fits_stays_whole() -> None:
    messages, question = a_conversation([3_000], [3_000])
    view = a_view(messages, question)

    assert drop_oldest(view, room=view.tokens, target=1, keep_turns=1) is view
