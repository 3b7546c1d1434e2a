from typing import Any

import pytest

from pegboard.core.principal import Principal
from pegboard.errors import Overloaded
from pegboard.servers.http.websocket.tickets import Tickets, take_ticket

ANN = Principal(id="ann")
PAGE = "https://board.example"


class Watch:
    """Shows the seconds that it is set to."""

    def __init__(self) -> None:
        self.shows = 100.0

    def __call__(self) -> float:
        return self.shows


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def tickets(watch: Watch) -> Tickets:
    return Tickets(lifetime=30, most=3, now=watch)


def test_a_ticket_lets_its_caller_in_once(tickets: Tickets) -> None:
    ticket = tickets.give(ANN, origin=None)

    assert [tickets.redeem(ticket, origin=PAGE) for _ in range(2)] == [ANN, None]


@pytest.mark.parametrize(
    ("later", "who"),
    [pytest.param(29.9, ANN, id="in time"), pytest.param(30.0, None, id="too late")],
)
def test_a_ticket_has_its_time(
    tickets: Tickets, watch: Watch, later: float, who: Principal | None
) -> None:
    ticket = tickets.give(ANN, origin=None)

    watch.shows += later

    assert tickets.redeem(ticket, origin=None) == who


@pytest.mark.parametrize("origin", [None, "https://evil.example", f"{PAGE}:8443", "null", ""])
def test_a_ticket_of_a_page_is_no_good_elsewhere(tickets: Tickets, origin: str | None) -> None:
    ticket = tickets.give(ANN, origin=PAGE)

    assert tickets.redeem(ticket, origin=origin) is None
    assert tickets.redeem(ticket, origin=PAGE) is None  # somebody has tried it


@pytest.mark.parametrize("made_up", ["", "x", "\udcff", "ä" * 10_000])
def test_a_ticket_that_nobody_gave_opens_nothing(tickets: Tickets, made_up: str) -> None:
    tickets.give(ANN, origin=None)

    assert tickets.redeem(made_up, origin=None) is None


def test_what_is_kept_opens_nothing(tickets: Tickets) -> None:
    ticket = tickets.give(ANN, origin=None)

    assert ticket not in repr(vars(tickets))
    assert len(ticket) >= 43


def test_too_many_that_nobody_uses_are_refused_until_the_oldest_has_had_its_time(
    tickets: Tickets, watch: Watch
) -> None:
    first = tickets.give(ANN, origin=None)
    watch.shows += 20
    others = [tickets.give(ANN, origin=None) for _ in range(2)]

    with pytest.raises(Overloaded) as refused:
        tickets.give(ANN, origin=None)
    watch.shows += 10
    last = tickets.give(ANN, origin=None)

    assert refused.value.retry_after == 10
    assert tickets.redeem(first, origin=None) is None
    assert [tickets.redeem(ticket, origin=None) for ticket in (*others, last)] == [ANN] * 3


def test_one_that_is_used_makes_room(tickets: Tickets) -> None:
    for _ in range(10):
        assert tickets.redeem(tickets.give(ANN, origin=None), origin=None) == ANN


@pytest.mark.parametrize(
    ("query", "ticket", "rest"),
    [
        pytest.param("ticket=abc", "abc", "", id="alone"),
        pytest.param("a=1&ticket=abc&b=x%20y", "abc", "a=1&b=x+y", id="among others"),
        pytest.param("ticket=a&ticket=b", "b", "", id="two"),
        pytest.param("ticket=", "", "", id="empty"),
        pytest.param("tickets=abc", None, "tickets=abc", id="another name"),
        pytest.param("a=1", None, "a=1", id="none"),
    ],
)
def test_a_ticket_is_taken_out_of_the_address(query: str, ticket: str | None, rest: str) -> None:
    scope: dict[str, Any] = {"path": "/v1/ws", "query_string": query.encode()}

    assert (take_ticket(scope), scope["query_string"]) == (ticket, rest.encode())
