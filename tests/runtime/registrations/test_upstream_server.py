"""A server that registered tools name: listed once for all who wait, and not again at once."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from tests.network.loopback import Received, Server, client_for, reply, serving

from pegboard.core.ports.services import Services
from pegboard.errors import SourceUnavailable
from pegboard.runtime.registrations.upstream_server import UpstreamServer
from pegboard.testing import FakeClock


class Hanging:
    """A server that does not answer before it may."""

    def __init__(self) -> None:
        self.asked = 0
        self.may_answer = asyncio.Event()

    async def answer(self, _received: Received, writer: asyncio.StreamWriter) -> None:
        self.asked += 1
        await self.may_answer.wait()
        writer.write(reply(b"", status=503))


@pytest.fixture
async def hanging() -> AsyncGenerator[tuple[Hanging, Server, Services, FakeClock]]:
    made, clock = Hanging(), FakeClock()
    async with serving(made.answer) as server, client_for(server) as http:
        yield made, server, Services(http=http, clock=clock), clock
        made.may_answer.set()


Made = tuple[Hanging, Server, Services, FakeClock]


def upstream(made: Made, *, within: float) -> UpstreamServer:
    config = {"document": f"http://{made[1].authority}/a.json"}
    return UpstreamServer("openapi", config, made[2], within=within)


@pytest.mark.timeout(60)
async def test_who_comes_while_a_server_hangs_waits_with_the_first_and_no_longer(
    hanging: Made,
) -> None:
    server = upstream(hanging, within=1)
    asking = [asyncio.create_task(server.tool("a", "")) for _ in range(5)]
    await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
    for _ in range(20):
        await asyncio.sleep(0)
    together = all(task.done() for task in asking)
    await asyncio.wait(asking)
    with pytest.raises(SourceUnavailable, match=r"did not list its tools within 1 s"):
        await server.tool("a", "")
    asked = hanging[0].asked
    hanging[3].advance(6)
    with pytest.raises(SourceUnavailable):
        await server.tool("a", "")
    await server.close()

    assert {str(task.exception()) for task in asking} == {
        "Its server did not list its tools within 1 s."
    }
    assert together  # the second of five that queue would take a second more
    assert (asked, hanging[0].asked) == (1, 2)


async def test_who_gives_up_takes_the_list_from_nobody(hanging: Made) -> None:
    server = upstream(hanging, within=60)
    first = asyncio.create_task(server.tool("a", ""))
    second = asyncio.create_task(server.tool("a", ""))
    while not hanging[0].asked:  # noqa: ASYNC110 - what is waited for is the server's side
        await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.wait([first])
    hanging[0].may_answer.set()
    with pytest.raises(SourceUnavailable, match="503"):
        await second
    await server.close()

    assert hanging[0].asked == 1


async def test_who_waits_for_what_is_closed_is_told_so(hanging: Made) -> None:
    server = upstream(hanging, within=60)
    asking = asyncio.create_task(server.tool("a", ""))
    await asyncio.sleep(0.05)
    await server.close()
    await server.close()

    with pytest.raises(SourceUnavailable, match="was closed while its tools were being listed"):
        await asking
