"""Definitions that wait on a server: all of its pages are approved, each by its digest."""

from typing import Any

import pytest

from pegboard.cli.client.pins import LocalPins, RemotePins
from pegboard.cli.client.port import Answer, PinsClient
from pegboard.errors import DefinitionNotHeld

CLIENTS: tuple[type[PinsClient], ...] = (LocalPins, RemotePins)


class Answers:
    """A server with held definitions, one on each page."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.decided: list[tuple[str, Any]] = []

    async def ask(
        self, method: str, path: str, *, query: Any = None, body: Any = None
    ) -> tuple[int, Answer]:
        if method == "POST":
            self.decided.append((path, body))
            return 200, {"name": path}
        place = int(query["cursor"] or 0)
        held = [{"name": name, "digest": f"d-{name}"} for name in self.names[place : place + 1]]
        after = str(place + 1) if place + 1 < len(self.names) else None
        return 200, {"held": held, "next_cursor": after}

    def client(self) -> RemotePins:
        return RemotePins(self.ask, lambda _status, answer: answer)


async def test_all_pages_are_approved_by_the_digest_that_was_listed() -> None:
    server = Answers("find", "a/b")

    done = await server.client().approve_all("orders")

    assert len(done) == 2
    assert server.decided == [
        ("/tools/held/orders/find", {"decision": "approve", "digest": "d-find"}),
        ("/tools/held/orders/a%2Fb", {"decision": "approve", "digest": "d-a/b"}),
    ]


async def test_a_source_of_which_nothing_waits_says_so() -> None:
    with pytest.raises(DefinitionNotHeld, match="'orders' is waiting"):
        await Answers().client().approve_all("orders")
