"""What watchers of a conversation are sent."""

import pytest
from tests.features.conversations.test_history import an_exchange

from pegboard.core.ports.run_store import RunEvent
from pegboard.errors import InvalidRequest
from pegboard.features.conversations.stream import (
    encode_position,
    make_end_events,
    make_queued_event,
    read_position,
    to_chat_events,
)

ASKED = an_exchange("m1", number=3)


def test_a_position_comes_back_from_its_id() -> None:
    assert read_position(encode_position(12, 7)) == (12, 7)
    assert read_position("") is None


@pytest.mark.parametrize("text", ["x", "1", "-1", "1-", "1-x", "1.5-2", "9" * 50 + "-1"])
def test_what_is_no_id_of_an_event_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        read_position(text)


def test_a_run_begins_with_its_message() -> None:
    (event,) = to_chat_events(ASKED, RunEvent(kind="run_started", at=1.0, sequence=1))

    assert (event.event, event.id) == ("run_started", "3-1")
    assert event.data == {
        "conversation": "c",
        "message": "m1",
        "at": 1.0,
        "run_id": "r_m1",
        "text": "ask m1",
    }


def test_what_an_engine_reports_is_passed_on_without_its_node() -> None:
    reported = RunEvent(kind="text_delta", at=1.0, sequence=5, data={"node": "agent", "text": "a"})
    (event,) = to_chat_events(ASKED, reported)

    assert event.data == {"conversation": "c", "message": "m1", "at": 1.0, "text": "a"}


@pytest.mark.parametrize("kind", ["node_changed", "run_finished", "never_heard_of"])
def test_what_is_not_for_watchers_is_left_out(kind: str) -> None:
    assert list(to_chat_events(ASKED, RunEvent(kind=kind, at=1.0))) == []


def test_a_failed_answer_ends_with_its_error() -> None:
    failed = an_exchange("m1", number=3, state="failed", error={"code": "x", "message": "no"})
    error, done = make_end_events(failed, 9)

    assert (error.event, error.data["code"], error.data["detail"]) == ("error", "x", "no")
    assert error.data["message"] == "m1"
    assert (done.event, done.data["state"], done.id) == ("done", "failed", "3-9")


def test_a_withdrawn_message_says_so() -> None:
    events = [event.event for event in make_end_events(an_exchange("m1", state="withdrawn"), 0)]

    assert events == ["message_withdrawn", "done"]
    assert make_queued_event(ASKED).event == "message_queued"


def test_the_end_says_why_the_model_wrote_no_more() -> None:
    (done,) = make_end_events(an_exchange("m1", state="completed", finish="content_filter"), 0)

    assert done.data["finish"] == "content_filter"
