from datetime import UTC, date, datetime

import pytest

from pegboard.features.catalogue.views import deprecation_note, start_of_day

NOON = datetime(2030, 1, 31, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("day", [None, date(2030, 1, 30), date(2030, 1, 31), date(2031, 1, 1)])
def test_nothing_is_said_of_a_day_while_it_lasts_somewhere(day: date | None) -> None:
    assert deprecation_note(day, NOON) == ""


def test_it_is_said_that_a_day_is_over() -> None:
    assert deprecation_note(date(2030, 1, 29), NOON) == (
        "2030-01-29 is past: this version should no longer be used."
    )


def test_a_day_begins_at_midnight() -> None:
    assert (start_of_day(date(1970, 1, 2)), start_of_day(None)) == (86_400.0, None)
