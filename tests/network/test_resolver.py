import asyncio
import socket
import threading

import pytest

from pegboard.concurrency.thread_pool import ThreadPool
from pegboard.errors import Overloaded
from pegboard.network.resolver import system_resolver


async def test_this_machine_is_found_by_its_name_and_once() -> None:
    found = await system_resolver("localhost", 80)

    assert set(found) <= {"127.0.0.1", "::1"}
    assert len(found) == len(set(found)) > 0


async def test_an_address_is_its_own_answer() -> None:
    assert await system_resolver("::1", 80) == ("::1",)


async def test_a_name_that_nobody_knows_is_an_os_error() -> None:
    with pytest.raises(socket.gaierror):
        await system_resolver("nowhere.example", 80)


async def test_look_ups_that_hang_are_given_up_and_refused_before_they_fill_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released = threading.Event()
    pool = ThreadPool(size=1, most_abandoned=2)
    monkeypatch.setattr("pegboard.network.resolver._pool", lambda: pool)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(60) or [])

    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await system_resolver("slow.example", 80)
    with pytest.raises(Overloaded):
        await system_resolver("slow.example", 80)
    released.set()
