"""Facts about runs are part of what listeners hear."""

from typing import get_args

from pegboard.core import run_event
from pegboard.core.event import Event


def test_every_fact_about_a_run_is_an_event() -> None:
    facts = {value for value in vars(run_event).values() if isinstance(value, type)}
    own = {fact for fact in facts if fact.__module__ == run_event.__name__}

    assert len(own) == 8
    assert own <= set(get_args(Event))
