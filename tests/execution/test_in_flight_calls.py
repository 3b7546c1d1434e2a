"""Who waits for a call is woken when it is over, in whatever loop they wait."""

import asyncio
import threading

from pegboard.core.ports.call_stores import Outcome
from pegboard.execution.in_flight_calls import InFlightCalls


def a_claim(key: str = "k", owner: str = "acme/ada") -> Outcome:
    return Outcome(key=key, owner=owner, tool="pay", digest="d", created_at=0.0)


def test_a_key_has_one_flight_until_it_is_over() -> None:
    flights = InFlightCalls()
    flight, is_own = flights.begin(a_claim())

    assert is_own
    assert flights.begin(a_claim()) == (flight, False)
    assert flights.begin(a_claim(owner="acme/bob"))[1]
    flights.end(flight)
    assert flights.begin(a_claim())[1]


async def test_who_comes_after_the_end_does_not_wait() -> None:
    flights = InFlightCalls()
    flight, _ = flights.begin(a_claim())
    flights.end(flight)

    assert await flight.wait(None)


async def test_waiting_has_its_time() -> None:
    flight, _ = InFlightCalls().begin(a_claim())

    assert not await flight.wait(0.001)
    assert flight._waiting == []


async def test_it_is_over_when_what_is_written_of_it_is_written() -> None:
    flights, written = InFlightCalls(), asyncio.Event()

    async def write() -> None:
        await written.wait()

    flight, _ = flights.begin(a_claim())
    flight.writing = asyncio.ensure_future(write())
    flights.end(flight)

    assert not await flight.wait(0.001)
    written.set()
    assert await flight.wait(60)
    assert flights.begin(a_claim())[1]


def test_who_waits_in_other_loops_is_woken_and_loops_that_are_gone_do_no_harm() -> None:
    flights, woken = InFlightCalls(), list[bool]()
    flight, _ = flights.begin(a_claim())
    waiting = threading.Barrier(4)

    async def wait() -> bool:
        waiter = asyncio.ensure_future(flight.wait(60))
        await asyncio.sleep(0)
        waiting.wait()
        return await waiter

    threads = [threading.Thread(target=lambda: woken.append(asyncio.run(wait()))) for _ in range(3)]
    gone = asyncio.new_event_loop()
    abandoned = gone.create_task(flight.wait(None))
    gone.run_until_complete(asyncio.sleep(0))
    gone.close()
    for thread in threads:
        thread.start()
    waiting.wait()
    flights.end(flight)
    for thread in threads:
        thread.join()

    assert woken == [True] * 3
    abandoned.get_coro().close()
