from datetime import UTC, date, datetime

import pytest

from pegboard.errors import InvalidRequest
from pegboard.features.catalogue.days import check_day, midnight

NOON = datetime(2030, 1, 31, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("day", [None, date(2030, 1, 30), date(2030, 1, 31), date(2031, 1, 1)])
def test_a_day_is_taken_while_it_lasts_somewhere(day: date | None) -> None:
    check_day(day, NOON)


def test_a_day_that_is_over_is_refused_and_says_what_to_write() -> None:
    with pytest.raises(InvalidRequest, match=r"2030-01-29 is past; .* leave 'on' out"):
        check_day(date(2030, 1, 29), NOON)


def test_a_day_begins_at_midnight() -> None:
    assert (midnight(date(1970, 1, 2)), midnight(None)) == (86_400.0, None)
