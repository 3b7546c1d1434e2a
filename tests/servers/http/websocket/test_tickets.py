"""The ticket of a handshake."""

from typing import Any

import pytest

from pegboard.servers.http.websocket.tickets import take_ticket


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
