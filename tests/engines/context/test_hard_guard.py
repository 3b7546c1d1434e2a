"""Layer 5: what cannot fit is refused."""

import pytest
from tests.engines.context.made import a_conversation, a_view

from pegboard.engines.context.hard_guard import check_room
from pegboard.errors import ContextTooLong


def test_a_request_that_cannot_fit_is_refused_with_its_size() -> None:
    messages, question = a_conversation([3_000])
    view = a_view(messages, question)

    check_room(view, room=view.tokens, model="m")
    with pytest.raises(
        ContextTooLong, match=rf"about {view.tokens} tokens, and 'm' has room for 9"
    ):
        check_room(view, room=9, model="m")
