"""A client's session while what serves it changes."""

import asyncio
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from pegboard.servers.mcp.stdio.relay import CUT_OFF, Relay
from pegboard.servers.mcp.stdio.transport import StdioStreams


def _message(**said: Any) -> JSONRPCMessage:
    return jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **said})


class Peer:
    """A peer whose messages a test writes."""

    def __init__(self) -> None:
        self.got: asyncio.Queue[Any] = asyncio.Queue()
        self.says: asyncio.Queue[Any] = asyncio.Queue()

    async def send(self, message: JSONRPCMessage) -> None:
        self.got.put_nowait(message.model_dump(exclude_unset=True))

    async def receive(self) -> JSONRPCMessage | None:
        return await self.says.get()


class Talk:
    """A client, and the relay between it and one peer after the other."""

    def __init__(self) -> None:
        self.sends, incoming = anyio.create_memory_object_stream[Any](0)
        outgoing, self.hears = anyio.create_memory_object_stream[Any](0)
        self.ended = asyncio.Event()
        self.relay = Relay(StdioStreams(incoming=incoming, outgoing=outgoing, ended=self.ended))
        self._streams = (self.sends, incoming, outgoing, self.hears)

    async def say(self, **said: Any) -> None:
        await self.sends.send(SessionMessage(_message(**said)))

    async def hear(self) -> dict[str, Any]:
        return (await self.hears.receive()).message.model_dump(exclude_unset=True)

    async def close(self) -> None:
        await self.relay.close()
        for stream in self._streams:
            stream.close()


async def test_a_new_peer_is_told_how_the_session_began() -> None:
    talk, old, new = Talk(), Peer(), Peer()
    running = asyncio.create_task(talk.relay.run(old))
    await talk.say(id=1, method="initialize", params={})
    await old.got.get()
    old.says.put_nowait(_message(id=1, result={"protocolVersion": "x"}))
    first = await talk.hear()
    await talk.say(method="notifications/initialized")
    await talk.say(id=2, method="resources/subscribe", params={"uri": "a"})
    await talk.say(id=3, method="resources/subscribe", params={"uri": "b"})
    await talk.say(id=4, method="resources/unsubscribe", params={"uri": "a"})
    for _ in range(4):
        await old.got.get()
    for number in (2, 3, 4):
        old.says.put_nowait(_message(id=number, result={}))
        await talk.hear()
    old.says.put_nowait(None)
    has_ended = await running

    running = asyncio.create_task(talk.relay.run(new))
    replayed = [await new.got.get() for _ in range(3)]
    new.says.put_nowait(_message(id=replayed[0]["id"], result={}))
    new.says.put_nowait(_message(method="notifications/tools/list_changed"))
    heard = await talk.hear()
    talk.ended.set()

    assert (first["id"], has_ended, await running) == (1, False, True)
    assert [(item["method"], item.get("params")) for item in replayed] == [
        ("initialize", {}),
        ("notifications/initialized", None),
        ("resources/subscribe", {"uri": "b"}),
    ]
    assert heard == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    await talk.close()


async def test_what_a_peer_has_not_answered_is_answered_when_it_ends() -> None:
    talk, old, new = Talk(), Peer(), Peer()
    running = asyncio.create_task(talk.relay.run(old))
    await talk.say(id="a", method="tools/call", params={})
    await old.got.get()
    old.says.put_nowait(None)
    heard = await talk.hear()
    await running
    running = asyncio.create_task(talk.relay.run(new))
    await talk.say(id="b", method="tools/call", params={})
    reached = await new.got.get()
    talk.ended.set()
    last = await talk.hear()
    await running

    assert (heard["id"], heard["error"]["message"]) == ("a", CUT_OFF)
    assert reached["id"] == last["id"] == "b"
    await talk.close()


async def test_a_request_that_its_client_has_cancelled_is_not_answered_when_a_peer_ends() -> None:
    talk, old = Talk(), Peer()
    running = asyncio.create_task(talk.relay.run(old))
    for number in (7, 8):
        await talk.say(id=number, method="tools/call", params={})
    await talk.say(method="notifications/cancelled", params={"requestId": 7})
    for _ in range(3):
        await old.got.get()
    old.says.put_nowait(None)
    heard = await talk.hear()

    assert (heard["id"], await running) == (8, False)
    await talk.close()


async def test_a_session_that_had_not_begun_begins_with_the_new_peer() -> None:
    talk, old, new = Talk(), Peer(), Peer()
    running = asyncio.create_task(talk.relay.run(old))
    await talk.say(id=1, method="initialize", params={})
    await old.got.get()
    old.says.put_nowait(None)
    await running
    running = asyncio.create_task(talk.relay.run(new))
    again = await new.got.get()
    new.says.put_nowait(_message(id=1, result={}))
    answer = await talk.hear()
    talk.ended.set()
    await running

    assert (again["id"], answer["id"]) == (1, 1)
    await talk.close()


async def test_no_message_is_lost_between_two_peers() -> None:
    talk = Talk()
    for number in range(50):
        peer = Peer()
        peer.says.put_nowait(None)
        running = asyncio.create_task(talk.relay.run(peer))
        saying = asyncio.create_task(talk.say(id=number, method="ping"))
        await running
        peer = Peer()
        running = asyncio.create_task(talk.relay.run(peer))
        await saying
        reached = await peer.got.get()
        assert reached["id"] == number
        peer.says.put_nowait(_message(id=number, result={}))
        await talk.hear()
        peer.says.put_nowait(None)
        await running
    await talk.close()


async def test_a_peer_that_is_left_answers_what_it_has_and_gets_nothing_new() -> None:
    talk, old, new, leaving = Talk(), Peer(), Peer(), asyncio.Event()
    running = asyncio.create_task(talk.relay.run(old, leaving=leaving))
    await talk.say(id=1, method="tools/call", params={})
    await old.got.get()
    leaving.set()
    next_one = asyncio.create_task(talk.say(id=2, method="tools/call", params={}))
    old.says.put_nowait(_message(id=1, result={}))
    answer = await talk.hear()
    has_ended = await running
    running = asyncio.create_task(talk.relay.run(new))
    reached = await new.got.get()
    new.says.put_nowait(_message(id=2, result={}))
    later = await talk.hear()
    await next_one
    talk.ended.set()
    await running

    assert (answer, has_ended, old.got.empty()) == (
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        False,
        True,
    )
    assert reached["id"] == later["id"] == 2
    await talk.close()


async def test_an_answer_that_a_client_reads_late_is_not_lost_when_its_peer_is_left() -> None:
    talk, old, leaving = Talk(), Peer(), asyncio.Event()
    running = asyncio.create_task(talk.relay.run(old, leaving=leaving))
    await talk.say(id=1, method="tools/call", params={})
    await old.got.get()
    old.says.put_nowait(_message(id=1, result={}))
    leaving.set()
    await asyncio.sleep(0.1)
    with anyio.fail_after(5):
        answer = await talk.hear()

    assert (answer["id"], answer.get("result"), await running) == (1, {}, False)
    await talk.close()
