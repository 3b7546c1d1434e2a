"""What may be asked of conversations."""

from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.features.conversations.schemas import MAX_MESSAGE, ChatBody, ConversationChange


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": "x", "mesage": "x"},
        {"message": "x" * (MAX_MESSAGE + 1)},
        {"message": 7},
        {"message": " "},
    ],
    ids=["nothing", "an unknown field", "too long", "no text", "blank"],
)
def test_what_is_no_message_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ChatBody.model_validate(body)


def test_what_is_left_out_of_a_change_stays() -> None:
    assert ConversationChange(title="Pears").model_dump(exclude_none=True) == {"title": "Pears"}
