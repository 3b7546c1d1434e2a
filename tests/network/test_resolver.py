import socket

import pytest

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
