import asyncio
import json
from typing import Any

import pytest
from tests.servers.http.live import until

from pegboard.servers.http.websocket.send_queue import MAX_WAITING, SendQueue


async def said(outbox: SendQueue, sent: list[str], count: int) -> list[Any]:
    delivering = asyncio.create_task(outbox.deliver())

    async def is_all() -> bool:
        return len(sent) >= count

    await until(is_all)
    delivering.cancel()
    await asyncio.wait([delivering])
    return [json.loads(text) for text in sent]


async def test_messages_go_out_in_order_and_progress_before_what_follows_it() -> None:
    sent: list[str] = []

    async def send(text: str) -> None:
        sent.append(text)

    outbox = SendQueue(send, timeout=1)
    outbox.put_progress({"id": 1, "done": 1})
    outbox.put_progress({"id": 1, "done": 2})
    outbox.put_progress({"id": 2, "done": 7})
    await outbox.put({"id": 1, "type": "result"})

    assert await said(outbox, sent, 3) == [
        {"id": 1, "done": 2},
        {"id": 1, "type": "result"},
        {"id": 2, "done": 7},
    ]


async def test_whoever_has_too_much_to_say_waits_for_room() -> None:
    sent: list[str] = []

    async def send(text: str) -> None:
        sent.append(text)

    outbox = SendQueue(send, timeout=1)
    for number in range(MAX_WAITING):
        await outbox.put({"id": number})
    one_more = asyncio.create_task(outbox.put({"id": "more"}))
    await asyncio.sleep(0.01)
    assert not one_more.done()

    await said(outbox, sent, MAX_WAITING + 1)
    await one_more

    assert json.loads(sent[-1]) == {"id": "more"}


async def test_a_message_that_nobody_takes_ends_it() -> None:
    async def send(_: str) -> None:
        await asyncio.sleep(60)

    outbox = SendQueue(send, timeout=0.01)
    await outbox.put({"id": 1})

    with pytest.raises(TimeoutError):
        await outbox.deliver()


async def test_what_json_cannot_say_is_no_reason_to_fail() -> None:
    sent: list[str] = []

    async def send(text: str) -> None:
        sent.append(text)

    outbox = SendQueue(send, timeout=1)
    await outbox.put({"id": 1, "half": "\ud800", "no": [float("inf")]})

    assert await said(outbox, sent, 1) == [{"id": 1, "half": "\ud800", "no": [None]}]
