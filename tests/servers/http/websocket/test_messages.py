from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.errors import InvalidRequest
from pegboard.servers.http.websocket.messages import READER, TYPES, faults_of, id_of, read_object

SCHEMA: dict[str, Any] = READER.json_schema()


def test_the_types_are_those_of_the_messages() -> None:
    assert set(SCHEMA["discriminator"]["mapping"]) == set(TYPES)


def test_every_message_is_closed_and_says_what_it_is_for() -> None:
    references = SCHEMA["discriminator"]["mapping"].values()
    models = [SCHEMA["$defs"][reference.rpartition("/")[2]] for reference in references]

    assert [model["title"] for model in models if model["additionalProperties"] is not False] == []
    assert [model["title"] for model in models if not model["description"].endswith(".")] == []
    assert [model["title"] for model in models if "id" not in model["required"]] == []


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ("a", "a"),
        (0, 0),
        (-3, -3),
        ("", None),
        ("x" * 129, None),
        (True, None),
        (1.0, None),
        (None, None),
        ([], None),
        (2**54, None),
    ],
    ids=lambda item: str(item)[:20],
)
def test_an_answer_is_addressed_as_far_as_the_id_is_one(given: Any, known: Any) -> None:
    assert id_of({"id": given}) == known


def test_half_a_surrogate_pair_is_no_message() -> None:
    with pytest.raises(InvalidRequest, match="UTF-8"):
        read_object('{"id": "\ud800"}', max_values=10)


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ({"id": None, "type": "ping"}, "id"),
        ({"id": "", "type": "ping"}, "id"),
        ({"id": 1, "type": "cancel", "request": 1.5}, "request"),
    ],
    ids=str,
)
def test_an_id_that_is_none_is_wrong_once_at_its_own_place(
    message: dict[str, Any], place: str
) -> None:
    with pytest.raises(ValidationError) as raised:
        READER.validate_python(message)

    [fault] = faults_of(raised.value)
    assert fault["loc"] == (place,)
    assert fault["msg"] == "Write a text of 1 to 128 characters, or an integer up to 2^53"


def test_an_id_that_is_missing_is_told_so() -> None:
    with pytest.raises(ValidationError) as raised:
        READER.validate_python({"type": "ping"})

    assert [(fault["type"], fault["loc"]) for fault in faults_of(raised.value)] == [
        ("missing", ("id",))
    ]
